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

// What progress says of the machine's memory is MemAvailable of its /proc/meminfo, and nothing where there is no such line or file.
func TestProgressTellsTheMemory(t *testing.T) {
	for _, c := range []struct {
		meminfo string
		want    uint64
	}{
		{"MemTotal:         381244 kB\nMemFree:          230000 kB\nMemAvailable:     222644 kB\nBuffers: 1 kB\n", 222644 << 10},
		{"MemTotal:         381244 kB\nMemFree:          230000 kB\n", 0},
		{"MemAvailable: many kB\n", 0},
		{"", 0}, // there is no such file
	} {
		cfg := toy(t, "", 1, 1)
		cfg.Depth = 1
		path := ""
		cfg.System.(*exploretest.System).Perform = func(_ *exploretest.System, op agent.Op) agent.Result {
			switch text := op.String(); {
			case strings.HasPrefix(text, "open "):
				path = text
			case strings.HasPrefix(text, "read ") && strings.Contains(path, "/proc/meminfo") && c.meminfo != "":
				return agent.Result{Data: []byte(c.meminfo)}
			case strings.Contains(path, "/proc/meminfo"):
				return agent.Result{Errno: unix.ENOENT}
			}
			return agent.Result{}
		}
		var told []uint64
		cfg.OnEvent = func(e explore.Event) {
			if e.Event == "progress" {
				told = append(told, e.Available)
			}
		}
		if _, err := explore.Run(context.Background(), cfg); err != nil {
			t.Fatal(err)
		}
		if len(told) != 1 || told[0] != c.want {
			t.Errorf("%q: %v, not %d once", c.meminfo, told, c.want)
		}
	}
}
