package campaign

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"fsward/repair/adapter"
)

// A Tally counts what replays of a finding showed.
type Tally struct {
	// Shown is how many of Replays showed the failure again.
	Shown   int `json:"shown"`
	Replays int `json:"replays"`
	// Instead counts what the others showed: kinds of failures, or "nothing".
	Instead map[string]int `json:"instead,omitempty"`
}

// nothing is what a replay shows that shows no failure at all.
const nothing = "nothing"

// count counts a replay of a finding.
func (r *Tally) count(f *Finding, t *trial) {
	r.Replays++
	if t.shows(f) {
		r.Shown++
		return
	}
	kinds := []string{}
	for _, failure := range t.failures {
		kinds = append(kinds, failure.Kind)
	}
	if len(kinds) == 0 {
		kinds = []string{nothing}
	}
	slices.Sort(kinds)
	if r.Instead == nil {
		r.Instead = map[string]int{}
	}
	r.Instead[strings.Join(slices.Compact(kinds), " and ")]++
}

// Summary says how often the finding showed, and what other replays showed.
func (r *Tally) Summary() string {
	text := fmt.Sprintf("shown in %d of %d replays", r.Shown, r.Replays)
	for _, kinds := range slices.Sorted(maps.Keys(r.Instead)) {
		text += fmt.Sprintf(", %s instead: %d", kinds, r.Instead[kinds])
	}
	return text
}

// confirm replays a new finding until it is late or it was replayed as often as asked, and counts
// how often it showed. Until ctx is done, other damages wait for it, and it stops after its share
// of the time. A replay that the end of the time cut short does not count, unless it showed.
func (w *worker) confirm(ctx context.Context, f *Finding, m *adapter.Mode, times int) error {
	start := time.Now()
	patches, err := f.bytes(w.base)
	if err != nil {
		return err
	}
	for f.Replays < f.wanted(times) {
		if w.late() || w.share > 0 && time.Since(start) > w.share && !over(ctx) {
			break
		}
		t, err := w.try(patches, m)
		if err != nil {
			return err
		}
		if t.cut && !t.shows(f) {
			break
		}
		f.count(f, t)
	}
	if f.Replays > 0 && f.Shown == 0 {
		f.Minimized = false // nothing could be left out, since nothing showed it
	}
	return nil
}

// wanted returns how often the finding is replayed, if it is to be replayed a number of times.
func (f *Finding) wanted(times int) int {
	if f.slow() {
		return min(times, maxSlowTries)
	}
	return times
}
