package oracle

import (
	"context"
	"path/filepath"
	"testing"

	"fsward/change"
	"fsward/explore/crash"
)

// An alteration makes of a log one of a disk, or of a kernel, that does not keep the order it should.
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
			flush := func(i int) bool { return i < len(events) && events[i].Kind == crash.Settled && events[i].All }
			if !flush(i) || !flush(i+2) || events[i+1].Kind != crash.Issued {
				out = append(out, ev)
			}
		}
		return out
	}},
	{"the last write before each flush comes after the next write", func(events []crash.Event) (out []crash.Event) {
		out = append(out, events...)
		for i := 1; i+1 < len(out); i++ {
			if out[i].Kind == crash.Settled && out[i].All && out[i-1].Kind == crash.Issued && out[i+1].Kind == crash.Issued {
				last := out[i-1]
				out[i-1], out[i], out[i+1] = out[i], out[i+1], last // flush, the next write, then what should have been before
				i += 2
			}
		}
		return out
	}},
}

// collect reads a log. A flush right after another is left out: there is nothing between them to be put in order.
func collect(tb testing.TB, events crash.Events) (out []crash.Event) {
	tb.Helper()
	for ev, err := range events {
		if err != nil {
			tb.Fatal(err)
		}
		if n := len(out); n > 0 && ev.Kind == crash.Settled && ev.All && out[n-1].Kind == crash.Settled && out[n-1].All {
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

// TestAltered: a log that does not keep its order leaves states that the oracle and the file system's own checker both find
// fault with, and where one does the other does.
func TestAltered(t *testing.T) {
	for _, w := range workloads {
		if w.name != "ext3" && w.name != "btrfs" { // of two copies, btrfs check wants one
			continue
		}
		t.Run(w.name, func(t *testing.T) {
			r := record(t, w)
			events := collect(t, crash.OpenTrace(r.log))
			image := filepath.Join(t.TempDir(), "state")
			for _, a := range alterations {
				t.Run(a.name, func(t *testing.T) {
					o := r.oracle(t, Options{})
					both, ours, theirs, sound, counts := 0, 0, 0, 0, 0
					kinds := make(map[string]int)
					n := 0
					_, err := crash.Each(r.open(t), list(a.alter(events)), crash.Options{Unit: 4096, Limit: 200, Seed: 2}, func(s *crash.State) error {
						v, err := o.Judge(context.Background(), s)
						if err != nil {
							return err
						}
						kinds[v.Kind()]++
						// Of each kind the first few, and of all some.
						if n++; kinds[v.Kind()] > 2 && n%197 != 0 {
							return nil
						}
						r.save(t, s, image)
						bad, said := r.peer(t, image)
						switch {
						case bad && v.Outcome == change.Violated:
							both++
						case bad:
							theirs++
							t.Errorf("state %s: %s; the peer: %.600s", s.ID(), v, said)
						case v.Kind() == "ext3/11" && len(v.Violations) == 1:
							counts++ // e2fsck sets the superblock's counts right without a word (check_super_block)
						case v.Outcome == change.Violated:
							ours++
							t.Errorf("state %s: %s; the peer finds nothing", s.ID(), v)
						default:
							sound++
						}
						return nil
					})
					if err != nil {
						t.Fatal(err)
					}
					t.Logf("both %d, only ours %d, only the peer %d, counts %d, sound %d; %v; %+v", both, ours, theirs, counts, sound, kinds, o.Stats())
					if both == 0 {
						t.Error("nothing was found")
					}
				})
			}
		})
	}
}
