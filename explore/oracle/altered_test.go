package oracle

import (
	"context"
	"path/filepath"
	"testing"

	"fsward/change"
	"fsward/explore/crash"
)

// An alteration turns a log into that of a disk or a kernel that violates the order of writes.
type alteration struct {
	name  string
	alter func(events []crash.Event) []crash.Event
}

var alterations = []alteration{
	{"no flush", func(events []crash.Event) (out []crash.Event) {
		for _, ev := range events {
			if ev.Kind != crash.Settled {
				out = append(out, ev)
			}
		}
		return append(out, crash.Event{Kind: crash.Settled, At: out[len(out)-1].At, All: true})
	}},
	{"no flush before a commit", func(events []crash.Event) (out []crash.Event) {
		for i, ev := range events {
			flush := func(i int) bool { return i < len(events) && isFlush(events[i]) }
			if !flush(i) || !flush(i+2) || events[i+1].Kind != crash.Issued {
				out = append(out, ev)
			}
		}
		return out
	}},
	{"each flush swapped with its neighbors", func(events []crash.Event) (out []crash.Event) {
		// The write before a flush comes after the write that followed the flush.
		out = append(out, events...)
		for i := 1; i+1 < len(out); i++ {
			if isFlush(out[i]) && out[i-1].Kind == crash.Issued && out[i+1].Kind == crash.Issued {
				last := out[i-1]
				out[i-1], out[i], out[i+1] = out[i], out[i+1], last
				i += 2
			}
		}
		return out
	}},
}

func isFlush(ev crash.Event) bool { return ev.Kind == crash.Settled && ev.All }

// collect reads a log. It leaves out a flush right after another flush.
func collect(tb testing.TB, events crash.Events) (out []crash.Event) {
	tb.Helper()
	for ev, err := range events {
		if err != nil {
			tb.Fatal(err)
		}
		if n := len(out); n > 0 && isFlush(ev) && isFlush(out[n-1]) {
			continue
		}
		out = append(out, ev)
	}
	return out
}

func list(events []crash.Event) crash.Events {
	return func(yield func(crash.Event, error) bool) {
		for _, ev := range events {
			if !yield(ev, nil) {
				return
			}
		}
	}
}

// TestAltered checks states of logs that violate the order of writes. The oracle and the file
// system's own checker must agree about each of them, and find faults in some.
func TestAltered(t *testing.T) {
	for _, w := range workloads {
		if w.name != "ext3" && w.name != "btrfs" { // btrfs check accepts one sound copy of two
			continue
		}
		t.Run(w.name, func(t *testing.T) {
			r := record(t, w)
			events := collect(t, crash.OpenTrace(r.log))
			image := filepath.Join(t.TempDir(), "state")
			for _, a := range alterations {
				t.Run(a.name, func(t *testing.T) {
					testAltered(t, r, list(a.alter(events)), image)
				})
			}
		})
	}
}

// testAltered compares the verdicts of the oracle and of the checker about the states of a log.
func testAltered(t *testing.T, r recording, log crash.Events, image string) {
	o := r.oracle(t, Options{})
	both, sound, counts := 0, 0, 0
	kinds := make(map[string]int)
	n := 0
	options := crash.Options{Unit: 4096, Limit: 200, Seed: 2}
	_, err := crash.Each(r.open(t), log, options, func(s *crash.State) error {
		v, err := o.Judge(context.Background(), s)
		if err != nil {
			return err
		}
		kinds[v.Kind()]++
		// The first two states of each kind are checked, and every 197th state.
		if n++; kinds[v.Kind()] > 2 && n%197 != 0 {
			return nil
		}
		r.save(t, s, image)
		faulty, output := r.check(t, image)
		switch {
		case faulty && v.Outcome == change.Violated:
			both++
		case faulty:
			t.Errorf("state %s: oracle: %s; checker: %.600s", s.ID(), v, output)
		case v.Kind() == "ext3/11" && len(v.Violations) == 1:
			counts++ // e2fsck corrects the superblock's counts silently (check_super_block)
		case v.Outcome == change.Violated:
			t.Errorf("state %s: oracle: %s; the checker finds no fault", s.ID(), v)
		default:
			sound++
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("faulty %d, wrong counts %d, sound %d; verdicts %v; %+v",
		both, counts, sound, kinds, o.Stats())
	if both == 0 {
		t.Error("no state is faulty")
	}
}
