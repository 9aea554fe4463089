package oracle

import (
	"context"
	"testing"

	"fsward/change"
	"fsward/explore/crash"
)

// TestPruned: with pruning and without, by difference and by whole file systems, the same is found of each state, on a log
// that keeps its order and on one that does not.
func TestPruned(t *testing.T) {
	for _, w := range workloads {
		if w.name != "ext3" && w.name != "btrfs" {
			continue
		}
		t.Run(w.name, func(t *testing.T) {
			r := record(t, w)
			events := collect(t, crash.OpenTrace(r.log))
			for _, log := range [][]crash.Event{events, alterations[1].alter(events), alterations[2].alter(events)} {
				pruning, each, whole := r.oracle(t, Options{}), r.oracle(t, Options{NoPrune: true}), r.oracle(t, Options{Whole: true})
				n := 0
				judge := func(o *Oracle, s *crash.State) Verdict {
					v, err := o.Judge(context.Background(), s)
					if err != nil {
						t.Fatal(err)
					}
					return v
				}
				_, err := crash.Each(r.open(t), list(log), crash.Options{Unit: 4096, Limit: 60, Seed: 3, Repeats: true}, func(s *crash.State) error {
					p, u := judge(pruning, s), judge(each, s)
					if p.Outcome != u.Outcome || p.Kind() != u.Kind() {
						t.Errorf("state %s: pruned %s; by itself %s", s.ID(), p, u)
					}
					if n++; n%29 == 0 || p.Pruned && p.Outcome == change.Violated && n%7 == 0 {
						if v := judge(whole, s); v.Outcome != u.Outcome || v.Kind() != u.Kind() {
							t.Errorf("state %s: by difference %s; as a whole %s", s.ID(), u, v)
						}
					}
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
				t.Logf("pruned %+v; each %+v; whole %+v", pruning.Stats(), each.Stats(), whole.Stats())
				if s := pruning.Stats(); s.Pruned == 0 || s.Violated != each.Stats().Violated || each.Stats().Pruned != 0 {
					t.Errorf("pruned %+v, by itself %+v", s, each.Stats())
				}
			}
		})
	}
}
