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

// cycles is how often the module is loaded, used and unloaded.
const cycles = 100

// leakBound is how many objects of a slab cache, or pages, may be more after that than before. What is forgotten in each cycle, or
// in most, makes it more than half of them. An idle guest can vary by more: all objects of the slab that a processor takes from
// count as taken, up to 64 of some caches. That is once up and once down, so that what leaks is what grows so twice.
const leakBound = cycles / 2

// Leaks does what loads, uses and unloads a module many times, and holds what the kernel has allocated before against what it has
// after. The kernel must not warn either. What it says is in the facts of "cycles".
func Leaks(cycle func(i int) error) error {
	log, err := openKernelLog()
	if err != nil {
		return err
	}
	defer unix.Close(log)
	// What the kernel allocates once, the first time that somebody does this, is no leak.
	if err := repeat(10, cycle); err != nil {
		return err
	}
	if _, err := kernelWarnings(log); err != nil { // that our module is not of the kernel's tree is said once
		return err
	}
	var at footprint
	if _, err := measure(); err != nil { // for the first time, which takes memory as well
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
	Fact("cycles", "%d times loaded, used and unloaded in %d ms", cycles, time.Since(begin).Milliseconds())
	leaks, err := at.grown("in these")
	if err != nil {
		return err
	}
	if len(leaks) > 0 {
		if err := repeat(cycles, cycle); err != nil {
			return err
		}
		again, err := at.grown("in as many more")
		if err != nil {
			return err
		}
		maps.DeleteFunc(leaks, func(name string, _ int64) bool { _, leaks := again[name]; return !leaks })
	}
	said, err := kernelWarnings(log)
	if err != nil {
		return err
	}
	if len(leaks) > 0 {
		err = fmt.Errorf("leaked in %d cycles, and as much again in as many more: %s", cycles, list(leaks))
	}
	if len(said) > 0 {
		err = errors.Join(err, fmt.Errorf("the kernel warns: %s", strings.Join(said, "; ")))
	}
	return err
}

// grown measures anew, tells the host what is more than before, and returns what is beyond the bound.
func (f *footprint) grown(when string) (map[string]int64, error) {
	now, err := measure()
	if err != nil {
		return nil, err
	}
	grown := growth(*f, now)
	*f = now
	Fact("cycles", "%s: %s", when, list(grown))
	maps.DeleteFunc(grown, func(name string, n int64) bool { return n < leakBound || name == programPages })
	return grown, nil
}

func repeat(times int, cycle func(i int) error) error {
	for i := range times {
		if err := cycle(i); err != nil {
			return fmt.Errorf("cycle %d: %w", i, err)
		}
	}
	return nil
}

// list names what is not 0.
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
