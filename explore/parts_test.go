package explore_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"

	"fsward/explore"
)

// A stroll is a checker of one step of ten separate parts, some of which fail: in the step, or at
// the crash that each requests.
type stroll struct {
	explore.Plain
	fails, failsAtCrash []int
	surprises           []int // at the crash
	walked              bool
}

func (w *stroll) Init(*explore.Env) error {
	w.walked = false
	return nil
}

func (w *stroll) Mutate(e *explore.Env) error {
	if w.walked {
		return nil
	}
	w.walked = true
	for i := range 10 {
		if e.LeavesOut(explore.Part{Site: "a part", Requests: 1, Separate: true}) {
			continue
		}
		if slices.Contains(w.fails, i) {
			return explore.Failuref(fmt.Sprint(i), "it failed")
		}
		if err := e.CheckCrashesNow(i); err != nil {
			return err
		}
	}
	return nil
}

func (w *stroll) Check(e *explore.Env, c explore.Crash) error {
	i, is := c.Before.(int)
	switch {
	case is && slices.Contains(w.failsAtCrash, i):
		return explore.Failuref(fmt.Sprint(i), "it failed after a crash")
	case is && slices.Contains(w.surprises, i):
		e.Surprise(fmt.Sprint(i), "", "it is not as expected")
	}
	return nil
}

func (w *stroll) Signature(*explore.Env) ([]byte, error) { return fmt.Append(nil, w.walked), nil }

// TestFailedPartHidesNoOther checks that a step is executed again without a separate part that
// failed, and that an error is found behind it. Where each part fails, this has an end.
func TestFailedPartHidesNoOther(t *testing.T) {
	all := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
	for name, tc := range map[string]struct {
		fails, failsAtCrash []int
		runs                uint64 // of the step
		found               []string
	}{
		"none":             {nil, nil, 1, nil},
		"in the step":      {[]int{2, 6}, nil, 3, []string{"2", "6"}},
		"after a crash":    {nil, []int{0, 9}, 3, []string{"0", "9"}},
		"in both ways":     {[]int{1}, []int{5}, 3, []string{"1", "5"}},
		"everywhere":       {all, nil, 5, []string{"0", "1", "2", "3", "4"}},
		"at every crash":   {nil, all, 5, []string{"0", "1", "2", "3", "4"}},
		"crash comes last": {[]int{4}, []int{2}, 3, []string{"2", "4"}},
	} {
		for _, s := range explore.Strategies() {
			cfg := toy(t, "", 1, 1)
			cfg.Stack.Checker = &stroll{fails: tc.fails, failsAtCrash: tc.failsAtCrash}
			cfg.Strategy = s
			got, err := explore.Run(context.Background(), cfg)
			if err != nil {
				t.Fatalf("%s, %s: %v", name, s, err)
			}
			kinds := make(map[string]bool)
			for i := range got.Errors {
				kinds[got.Errors[i].Kind] = true
				if e := readError(t, cfg, got, i); replay(t, cfg, e) != e.Kind {
					t.Errorf("%s, %s: the error %s does not replay", name, s, e.Kind)
				}
			}
			want := tc.runs
			if got.States > 1 { // the checker does nothing in the state after a step that holds
				want++
			}
			if found := slices.Sorted(maps.Keys(kinds)); got.Runs != want || !got.Complete ||
				got.Waiting != 0 || !slices.Equal(found, tc.found) {
				t.Errorf("%s, %s: found %v in %d executions, complete %v, %d wait; want %v in %d", name, s,
					found, got.Runs, got.Complete, got.Waiting, tc.found, want)
			}
		}
	}
}

// TestSurprisesHaveFewParts checks that a surprise is reported with the one part that shows it.
func TestSurprisesHaveFewParts(t *testing.T) {
	cfg := toy(t, "", 1, 1)
	cfg.Stack.Checker = &stroll{surprises: []int{3, 8}}
	got, err := explore.Run(context.Background(), cfg)
	if err != nil || len(got.Errors) != 2 {
		t.Fatalf("%+v, %v", got.Errors, err)
	}
	for i, kind := range []string{"3", "8"} {
		e := readError(t, cfg, got, i)
		var kept []int
		for n, c := range e.Steps[0] {
			if c.Value == 0 {
				kept = append(kept, n)
			}
		}
		if e.Kind != kind || fmt.Sprint(kept) != "["+kind+"]" || replay(t, cfg, e) != kind {
			t.Errorf("the surprise %s has the parts %v, want %s", e.Kind, kept, kind)
		}
	}
}
