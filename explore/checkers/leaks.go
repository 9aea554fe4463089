package checkers

import (
	"fmt"
	"slices"
	"strings"

	"fsward/explore"
)

// Leaks checks that mounting, using and unmounting leaves no objects in the kernel. It is a leak if
// a slab cache grows by at least one object for every second mount, in each of two rounds.
type Leaks struct {
	Core
	On     Storage
	Cycles int // mounts in a round; 0: 20
}

// Mutate does one operation, mounts and unmounts in two rounds, and counts slab objects before and
// after each.
func (c *Leaks) Mutate(e *explore.Env) error {
	if c.Cycles == 0 {
		c.Cycles = 20
	}
	ops := choose(e, c.Steps())
	if err := c.Step(e, ops); err != nil {
		return err
	}
	// Objects that the kernel allocates once, for the first mounts, are no leak.
	if err := c.remount(e, 3); err != nil {
		return err
	}
	var grown [2]map[string]int
	for i := range grown {
		before, err := slabs(e)
		if err != nil {
			return err
		}
		if err := c.remount(e, c.Cycles); err != nil {
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
		return explore.Failuref("leak", "in two rounds of %d mounts after %s: objects of %s",
			c.Cycles, describe(ops), strings.Join(leaks, ", "))
	}
	return c.Same(e)
}

// remount unmounts, mounts and reads the whole tree, a number of times.
func (c *Leaks) remount(e *explore.Env, times int) error {
	for range times {
		if err := c.On.Unmount(e); err != nil {
			return commandFailure("cannot be unmounted", err)
		}
		if err := c.On.Mount(e); err != nil {
			return commandFailure("cannot be mounted again", err)
		}
		c.fs.Synced()
		if _, err := look(e, c.At, c.fs); err != nil {
			return err
		}
	}
	return nil
}

// slabs counts the objects of each slab cache. It first drops and shrinks the caches twice: SLUB's
// counts are exact only after a cache was shrunk (mm/slub.c, get_slabinfo), and inodes are freed
// after their dentries.
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

// Check does nothing: the checker tries no crashes.
func (c *Leaks) Check(*explore.Env, explore.Crash) error { return nil }
