package campaign

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"fsward/interp"
	"fsward/repair"
	"fsward/repair/adapter"
)

// A Failure is one thing that is wrong with what a program did.
type Failure struct {
	Kind   string `json:"kind"`
	Detail string `json:"detail"` // one sentence
	// Run is the number of the run that shows it, from 1.
	Run int `json:"run"`
	// Messages are those by which failures are grouped.
	Messages []string `json:"messages,omitempty"`
	// Check is the check that found it; "": not known.
	Check string `json:"check,omitempty"`
	// Varies reports that further messages differ from run to run.
	Varies bool `json:"varies,omitempty"`
}

// A trial is what a program did with one damage.
type trial struct {
	patches  []interp.Patch
	runs     []*Run
	failures []Failure
	check    string // that is made; those that are not costly count as Consistency
	cut      bool   // the time ended before all crash states of the repair were tried
}

// maxRuns bounds the runs on one image.
const maxRuns = 6

// try runs a mode of the program on a damaged image, twice or more, and judges what it did. With
// agree, the program's check runs first.
func (w *worker) try(patches []interp.Patch, m *adapter.Mode) (*trial, error) {
	t := &trial{patches: patches, check: Consistency}
	if err := w.reset(patches); err != nil {
		return nil, err
	}
	if w.checks.agree {
		if err := w.ask(t); err != nil || len(t.failures) > 0 {
			return t, err
		}
	}
	first, err := w.next(t, m)
	if err != nil || len(t.failures) > 0 {
		return t, err
	}
	w.compareModes(t, m)
	if err := w.compareTrees(t); err != nil {
		return t, err
	}
	earlier, at := len(t.failures), len(t.runs)
	second, err := w.next(t, w.program.Second(m))
	if err != nil || len(t.failures) > earlier {
		return t, err
	}
	allowed := repair.Allowed
	if w.program.Second(m) != m {
		allowed = repair.AllowedCheck
	}
	if !allowed(first.Outcome, second.Outcome) {
		return t, w.contradict(t, m, at)
	}
	if !second.Outcome.Clean() {
		return t, nil
	}
	if err := errors.Join(w.compareRules(t), compareCopies(w, t)); err != nil {
		return t, err
	}
	if w.checks.election != nil && w.repeats(Complete) {
		t.check = Complete
		if err := w.vote(t); err != nil {
			return t, err
		}
	}
	if w.interrupts(m, first) {
		t.check = Interrupt
		if err := (&interrupter{w}).interrupt(t, m); err != nil || len(t.failures) > 0 {
			return t, err
		}
	}
	if w.mounts(m, first) {
		t.check = Mount
		return t, (&viewer{w}).show(t, m)
	}
	return t, nil
}

// next runs the program once more, and adds a failure if the run is broken.
func (w *worker) next(t *trial, m *adapter.Mode) (*Run, error) {
	r, err := w.run(m)
	if err != nil {
		return nil, err
	}
	t.runs = append(t.runs, r)
	if kind := broken(w.program, r); kind != "" {
		t.fail(w.program, kind, r.Ended())
		return r, nil
	}
	st, err := w.image.Stat()
	if err == nil && uint64(st.Size()) > w.base.Size()+spare {
		t.fail(w.program, Flood, fmt.Sprintf("the image grew to %d bytes", st.Size()))
	}
	return r, err
}

// fail adds a failure that the last run shows.
func (t *trial) fail(p *adapter.Program, kind, detail string) {
	f := Failure{Kind: kind, Detail: detail, Run: len(t.runs)}
	r := t.runs[len(t.runs)-1]
	switch kind {
	case Hang, Flood: // where the output was cut is chance
	default:
		f.Messages = messages(p, r.Output)
	}
	t.add(f)
}

func (t *trial) add(f Failure) {
	f.Check = t.check
	t.failures = append(t.failures, f)
}

// contradict adds the failure of a second run that contradicts the run before it, which was run
// number at, and finds out by further runs whether the program ever comes to an end.
func (w *worker) contradict(t *trial, m *adapter.Mode, at int) error {
	first, second := t.runs[at-1], t.runs[at]
	f := Failure{Kind: Again, Run: at + 1, Messages: messages(w.program, second.Output)}
	seen := []uint64{}
	var claims []string
	for _, r := range t.runs[at-1:] {
		claims = append(claims, r.Outcome.String())
	}
	for len(t.runs) < at-1+maxRuns && second.Outcome != repair.Consistent {
		h, err := w.hash()
		if err != nil {
			return err
		}
		if slices.Contains(seen, h) {
			f.Kind = Cycle
			break
		}
		seen = append(seen, h)
		if second, err = w.run(m); err != nil {
			return err
		}
		t.runs = append(t.runs, second)
		claims = append(claims, second.Outcome.String())
		if broken(w.program, second) != "" {
			break
		}
	}
	if first.Outcome.Clean() && !slices.ContainsFunc(t.runs[at:], func(r *Run) bool {
		return r.Outcome == repair.Consistent
	}) {
		f.Kind = Cycle
	}
	f.Detail = fmt.Sprintf("runs in a row claim: %s", strings.Join(claims, ", "))
	t.add(f)
	return nil
}

// sound runs each mode on the image without damage. Every one must call it consistent.
func (w *worker) sound() error {
	modes := append([]adapter.Mode{}, w.program.Repairs...)
	if w.program.Check != nil {
		modes = append(modes, *w.program.Check)
	}
	for i := range modes {
		if err := w.reset(nil); err != nil {
			return err
		}
		r, err := w.run(&modes[i])
		if err != nil {
			return err
		}
		want := repair.Consistent
		if second := w.program.Second(&modes[i]); second != &modes[i] && r.Outcome == repair.Corrected {
			continue // the statuses of this mode do not tell the two apart
		}
		if r.Outcome != want {
			return fmt.Errorf("%s does not call the image without damage consistent: %s\n%s",
				w.program.Name, r.Ended(), r.Output)
		}
	}
	return nil
}
