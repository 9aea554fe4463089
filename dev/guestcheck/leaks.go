package guestcheck

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// cycles is the number of cycles of one run: each loads, uses and unloads the module.
const cycles = 100

// leakBound is the growth in objects of a slab cache, or in pages, from which on a run is
// suspicious. A leak in most cycles exceeds it. An idle guest may exceed it too: SLUB counts all
// objects of the slab that a processor allocates from, up to 64 in some caches. This count rises
// once and falls again, so only a cache that grows in two runs leaks.
const leakBound = cycles / 2

// Leaks checks that a module leaks no memory. It calls cycle many times, which must load, use and
// unload the module, and compares the memory that the kernel has allocated before and after. It
// fails if memory leaks or if the kernel prints a warning. It writes its measurements as facts of
// the check "cycles".
func Leaks(cycle func(i int) error) error {
	log, err := openKernelLog()
	if err != nil {
		return err
	}
	defer unix.Close(log)
	// In the first cycles and in the first measurement the kernel allocates memory that it keeps, and
	// it warns once that the module is not of its tree.
	if err := repeat(10, cycle); err != nil {
		return err
	}
	if _, err := kernelWarnings(log); err != nil {
		return err
	}
	var at footprint
	if _, err := measure(); err != nil {
		return err
	}
	if at, err = measure(); err != nil {
		return err
	}
	time.Sleep(5 * time.Second)
	if _, err := at.grown("idle for 5 s"); err != nil {
		return err
	}
	begin := time.Now()
	if err := repeat(cycles, cycle); err != nil {
		return err
	}
	Fact("cycles", "%d times loaded, used and unloaded in %d ms",
		cycles, time.Since(begin).Milliseconds())
	leaks, err := at.grown("in the first run")
	if err != nil {
		return err
	}
	if len(leaks) > 0 {
		if err := repeat(cycles, cycle); err != nil {
			return err
		}
		again, err := at.grown("in the second run")
		if err != nil {
			return err
		}
		maps.DeleteFunc(leaks, func(name string, _ int64) bool {
			_, grew := again[name]
			return !grew
		})
	}
	warnings, err := kernelWarnings(log)
	if err != nil {
		return err
	}
	if len(leaks) > 0 {
		err = fmt.Errorf("the module leaks, in two runs of %d cycles each: %s", cycles, list(leaks))
	}
	if len(warnings) > 0 {
		err = errors.Join(err, fmt.Errorf("warnings of the kernel: %s", strings.Join(warnings, "; ")))
	}
	return err
}

// grown measures again, writes the growth as a fact, and returns the counts that have grown by
// leakBound or more.
func (f *footprint) grown(when string) (map[string]int64, error) {
	now, err := measure()
	if err != nil {
		return nil, err
	}
	grown := growth(*f, now)
	*f = now
	Fact("cycles", "%s: %s", when, list(grown))
	maps.DeleteFunc(grown, func(name string, n int64) bool {
		return n < leakBound || name == programPages
	})
	return grown, nil
}

// repeat calls cycle with 0, 1 and so on.
func repeat(times int, cycle func(i int) error) error {
	for i := range times {
		if err := cycle(i); err != nil {
			return fmt.Errorf("cycle %d: %w", i, err)
		}
	}
	return nil
}

// list returns the counts that are not 0 as text.
func list(counts map[string]int64) string {
	var out []string
	for name, n := range counts {
		if n != 0 {
			out = append(out, fmt.Sprintf("%s %+d", name, n))
		}
	}
	slices.Sort(out)
	if out == nil {
		return "nothing"
	}
	return strings.Join(out, ", ")
}
