package oracle

import (
	"context"
	"testing"

	"fsward/change"
	"fsward/explore/crash"
)

// TestPruned checks that verdicts with pruning, without pruning and about whole file systems agree,
// on a log as recorded and on logs that violate the order of writes.
func TestPruned(t *testing.T) {
	for _, w := range workloads {
		if w.name != "ext3" && w.name != "btrfs" {
			continue
		}
		t.Run(w.name, func(t *testing.T) {
			r := record(t, w)
			events := collect(t, crash.OpenTrace(r.log))
			testPruned(t, r, events)
			testPruned(t, r, alterations[1].alter(events))
			testPruned(t, r, alterations[2].alter(events))
		})
	}
}

func testPruned(t *testing.T, r recording, log []crash.Event) {
	t.Helper()
	pruning := r.oracle(t, Options{})
	each := r.oracle(t, Options{NoPrune: true})
	whole := r.oracle(t, Options{Whole: true})
	n := 0
	judge := func(o *Oracle, s *crash.State) Verdict {
		v, err := o.Judge(context.Background(), s)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	options := crash.Options{Unit: 4096, Limit: 60, Seed: 3, Repeats: true}
	_, err := crash.Each(r.open(t), list(log), options, func(s *crash.State) error {
		p, u := judge(pruning, s), judge(each, s)
		if p.Outcome != u.Outcome || p.Kind() != u.Kind() {
			t.Errorf("state %s: with pruning %s; without %s", s.ID(), p, u)
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
	with, without := pruning.Stats(), each.Stats()
	t.Logf("with pruning %+v; without %+v; whole %+v", with, without, whole.Stats())
	if with.Pruned == 0 || with.Violated != without.Violated || without.Pruned != 0 {
		t.Errorf("with pruning %+v, without %+v", with, without)
	}
}
