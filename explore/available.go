package explore

import (
	"context"
	"fmt"
	"strings"
)

// available returns how many bytes of the machine's memory are free or can be made free (proc(5), MemAvailable): what a leak in its kernel
// makes less and less. 0: it does not say, or has failed.
func (s *session) available(ctx context.Context) (uint64, error) {
	if s.dead {
		return 0, nil
	}
	e := NewEnv(ctx, s.system, new(Chooser))
	text, err := e.ReadFile("/proc/meminfo")
	if err != nil {
		return 0, fatal(e)
	}
	return parseAvailable(string(text)), nil
}

// parseAvailable returns the bytes of a /proc/meminfo's MemAvailable; 0 where there is no such line.
func parseAvailable(meminfo string) uint64 {
	for line := range strings.Lines(meminfo) {
		var kib uint64
		if n, _ := fmt.Sscanf(line, "MemAvailable: %d kB", &kib); n == 1 {
			return kib << 10
		}
	}
	return 0
}
