package explore_test

import (
	"context"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"fsward/explore"
	"fsward/explore/agent"
	"fsward/explore/exploretest"
)

// TestProgressTellsTheMemory checks that "progress" events have MemAvailable of the machine's
// /proc/meminfo, or 0 without that line or file.
func TestProgressTellsTheMemory(t *testing.T) {
	for _, c := range []struct {
		meminfo string
		want    uint64
	}{
		{"MemTotal:         381244 kB\nMemFree:          230000 kB\n" +
			"MemAvailable:     222644 kB\nBuffers: 1 kB\n", 222644 << 10},
		{"MemTotal:         381244 kB\nMemFree:          230000 kB\n", 0},
		{"MemAvailable: many kB\n", 0},
		{"", 0}, // no such file
	} {
		cfg := toy(t, "", 1, 1)
		cfg.Depth = 1
		path := ""
		system(cfg).Perform = func(_ *exploretest.System, op agent.Op) agent.Result {
			text := op.String()
			if strings.HasPrefix(text, "open ") {
				path = text
				return agent.Result{}
			}
			switch meminfo := strings.Contains(path, "/proc/meminfo"); {
			case meminfo && strings.HasPrefix(text, "read ") && c.meminfo != "":
				return agent.Result{Data: []byte(c.meminfo)}
			case meminfo:
				return agent.Result{Errno: unix.ENOENT}
			}
			return agent.Result{}
		}
		var got []uint64
		cfg.OnEvent = func(e explore.Event) {
			if e.Event == "progress" {
				got = append(got, e.Available)
			}
		}
		if _, err := explore.Run(context.Background(), cfg); err != nil {
			t.Fatal(err)
		}
		if len(got) != 1 || got[0] != c.want {
			t.Errorf("%q: got %v, want one event with %d", c.meminfo, got, c.want)
		}
	}
}
