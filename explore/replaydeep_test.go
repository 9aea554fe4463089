package explore

import (
	"fmt"
	"testing"
)

// A search without a limit of the depth reaches states after thousands of steps. The work for one
// grows with the number of its steps, not with the square.
func TestReplayDeep(t *testing.T) {
	const depth = 20_000
	st := new(state)
	for i := range uint32(depth) {
		st.Steps = append(st.Steps, []Choice{{N: depth, Value: i}})
	}
	a := &replayAhead{known: make(map[prefixKey][]replayedRequest)}
	a.begin(st, true)
	for i := range depth {
		a.beginStep(i)
		a.note(replayedRequest{mark: fmt.Sprint(i)}, true)
		a.endStep()
	}
	if a.begin(st, true); len(a.ahead) != depth || a.ahead[depth-1].mark != fmt.Sprint(depth-1) {
		t.Errorf("%d requests are sent ahead, want that of each step", len(a.ahead))
	}
	st.Steps[0][0].Value++
	if a.begin(st, true); len(a.ahead) > 0 {
		t.Errorf("%d requests of another state are sent ahead", len(a.ahead))
	}
}
