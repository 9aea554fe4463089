package explore_test

import (
	"testing"

	"fsward/explore"
)

func TestReplayed(t *testing.T) {
	for want, e := range map[string]explore.Error{
		"not replayed, because the run ended": {},
		"shown in 0 of 1 replay":              {Replays: 1},
		"shown in 2 of 3 replays":             {Replays: 3, Shown: 2},
	} {
		if got := e.Replayed(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
