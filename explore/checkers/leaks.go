package checkers

import (
	"fmt"
	"slices"
	"strings"

	"fsward/explore"
)

// Leaks asks whether mounting, using and unmounting leaves something in the kernel: objects of slab caches that are more by one for
// at least every second time, in two rounds one after the other.
type Leaks struct {
	Core
	On     Storage
	Cycles int // of a round; 0: 20
}

// Mutate does one operation in each of many mounts, and counts before and after.
func (c *Leaks) Mutate(e *explore.Env) error {
	if c.Cycles == 0 {
		c.Cycles = 20
	}
	ops := choose(e, c.Steps())
	if err := c.Step(e, ops); err != nil {
		return err
	}
	if err := c.rounds(e, 3); err != nil { // what is allocated once, the first time, is no leak
		return err
	}
	var grown [2]map[string]int
	for i := range grown {
		before, err := slabs(e)
		if err != nil {
			return err
		}
		if err := c.rounds(e, c.Cycles); err != nil {
			return err
		}
		after, err := slabs(e)
		if err != nil {
			return err
		}
		grown[i] = make(map[string]int)
		for cache, n := range after {
			grown[i][cache] = n - before[cache]
		}
	}
	var leaks []string
	for cache, n := range grown[0] {
		if n >= c.Cycles/2 && grown[1][cache] >= c.Cycles/2 {
			leaks = append(leaks, fmt.Sprintf("%s %+d and %+d", cache, n, grown[1][cache]))
		}
	}
	if slices.Sort(leaks); leaks != nil {
		return explore.Failuref("leak", "in twice %d mounts after %s: objects of %s", c.Cycles, describe(ops), strings.Join(leaks, ", "))
	}
	return c.Same(e)
}

// rounds unmounts and mounts again, and looks at all that is there.
func (c *Leaks) rounds(e *explore.Env, times int) error {
	for range times {
		if err := c.On.Unmount(e); err != nil {
			return failed("cannot be unmounted", err)
		}
		if err := c.On.Mount(e); err != nil {
			return failed("cannot be mounted again", err)
		}
		c.fs.Synced()
		if _, err := look(e, c.At, c.fs); err != nil {
			return err
		}
	}
	return nil
}

// slabs counts the objects of each slab cache. SLUB's counts are exact only after each cache was shrunk (mm/slub.c, get_slabinfo), and
// inodes are freed after their dentries.
func slabs(e *explore.Env) (map[string]int, error) {
	const read = `for i in 1 2; do sync; echo 3 > /proc/sys/vm/drop_caches; sleep 0.3
for c in /sys/kernel/slab/*; do [ -L $c ] || echo 1 > $c/shrink; done; done; cat /proc/slabinfo`
	exit, err := e.Run("sh", "-c", read)
	if err != nil {
		return nil, err
	}
	if exit.Code != 0 {
		return nil, &explore.CommandError{Command: read, Exit: exit}
	}
	out := make(map[string]int)
	for line := range strings.Lines(string(exit.Stdout)) {
		var cache string
		var n int
		if strings.HasPrefix(line, "slabinfo") || strings.HasPrefix(line, "#") {
			continue
		}
		if _, err := fmt.Sscan(line, &cache, &n); err != nil {
			return nil, fmt.Errorf("/proc/slabinfo: %q: %w", line, err)
		}
		out[cache] += n
	}
	return out, nil
}

// Check has nothing to ask: no crashes are tried.
func (c *Leaks) Check(*explore.Env, explore.Crash) error { return nil }
