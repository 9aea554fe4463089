package explore_test

import (
	"strings"
	"testing"

	"fsward/explore"
	"fsward/explore/agent"
	"fsward/explore/exploretest"
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

// TestFirstMountFails: if the first or the second mount fails, the error ends with what the kernel
// said last.
func TestFirstMountFails(t *testing.T) {
	for nth, want := range []string{"cannot make the stack: ", "cannot begin: mount failed: "} {
		cfg := toy(t, "", 1, 1)
		run, n := system(cfg).Programs["toy"], 0
		system(cfg).Programs["toy"] = func(s *exploretest.System, c agent.Command) (agent.Exit, error) {
			if c.Args[1] == "mount" {
				if n++; n > nth {
					return agent.Exit{Code: 1, Kernel: strings.Repeat("noise\n", 20) + "toy: no room\n"}, nil
				}
			}
			return run(s, c)
		}
		_, err := explore.Run(t.Context(), cfg)
		if err == nil || !strings.HasPrefix(err.Error(), want) ||
			strings.Count(err.Error(), "noise") != 7 || !strings.HasSuffix(err.Error(), "\n  toy: no room") {
			t.Errorf("mount %d: %v", nth, err)
		}
	}
}
