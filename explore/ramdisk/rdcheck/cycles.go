package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"fsward/explore/ramdisk"
)

// cycles is how often the module is loaded, used and unloaded.
const cycles = 100

// leakBound is how many objects of a slab cache, or pages, may be more after that than before. What is forgotten in each cycle, or
// in most, makes it more than half of them. An idle guest can vary by more: all objects of the slab that a processor takes from
// count as taken, up to 64 of some caches. That is once up and once down, so that what leaks is what grows so twice.
const leakBound = cycles / 2

// checkCycles loads, uses and unloads the module many times, and holds what the kernel has allocated before against what it has
// after.
func checkCycles() error {
	log, err := openKernelLog()
	if err != nil {
		return err
	}
	defer unix.Close(log)
	// What the kernel allocates once, the first time that somebody does this, is no leak.
	if err := repeat(10); err != nil {
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
	if err := repeat(cycles); err != nil {
		return err
	}
	fact("cycles", "%d times loaded, used and unloaded in %d ms", cycles, time.Since(begin).Milliseconds())
	leaks, err := at.grown("in these")
	if err != nil {
		return err
	}
	if len(leaks) > 0 {
		if err := repeat(cycles); err != nil {
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
	fact("cycles", "%s: %s", when, list(grown))
	maps.DeleteFunc(grown, func(name string, n int64) bool { return n < leakBound || name == programPages })
	return grown, nil
}

func repeat(times int) error {
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

// cycle loads the module, has it do all that it does, and unloads it: every other time with a disk that still holds contents,
// snapshots, rules and a log that nobody has read.
func cycle(i int) (err error) {
	if err := load("log_mib=1"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unload()) }()
	c, err := ramdisk.Open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	d, err := c.Make(uint32(i%ramdisk.MaxDisks), 4<<20)
	if err != nil {
		return err
	}
	if err := d.Log(true); err != nil {
		return err
	}
	if err := use(c, d); err != nil {
		return err
	}
	if i%2 == 1 {
		return nil
	}
	if err := readTo(c, "read"); err != nil {
		return err
	}
	return d.Remove()
}

func use(c *ramdisk.Control, d *ramdisk.Disk) error {
	f, err := direct(d)
	if err != nil {
		return err
	}
	defer unix.Close(f)
	buf := alignedPage()
	defer unix.Munmap(buf)
	write := func(pages ...int64) error {
		for _, p := range pages {
			if _, err := unix.Pwrite(f, buf, p*ramdisk.PageSize); err != nil {
				return err
			}
		}
		return nil
	}
	var page [ramdisk.PageSize]byte
	page[0] = 1
	if _, err := unix.Pread(f, buf, 0); err != nil {
		return err
	}
	steps := []func() error{
		func() error { return write(0, 1, 2, 3) },
		func() error { return d.Snapshot("one") },
		func() error { return write(2, 3, 4, 5) },
		func() error { return d.Snapshot("two") },
		func() error { return write(5, 6) },
		func() error { return d.SetPage(7, &page) },
		func() error { _, err := d.Restore("one"); return err },
		func() error { return write(1, 9) },
		func() error { return d.Snapshot("three") },
		func() error { _, err := d.Restore("two"); return err },
		func() error { _, err := d.Changed("one"); return err },
		func() error { return d.Drop("one") },
		func() error { return c.Mark("half") },
		func() error {
			return d.Inject(ramdisk.Rule{Action: ramdisk.Delay, Ops: []ramdisk.Op{ramdisk.Write}, Nth: 1, Times: 1, Arg: 1})
		},
		func() error { return write(10) },
		func() error {
			return d.Inject(ramdisk.Rule{Action: ramdisk.Fail, Ops: []ramdisk.Op{ramdisk.Write}, Error: uint32(unix.EIO), Nth: 1, Times: 1})
		},
		func() error {
			if err := write(11); !errors.Is(err, unix.EIO) {
				return fmt.Errorf("a write that should fail ends with %v", err)
			}
			return nil
		},
		func() error { return d.Inject(ramdisk.Rule{Action: ramdisk.DropFlush, Nth: 100, Times: 1}) }, // stays
		func() error { return unix.Fsync(f) },
	}
	for n, step := range steps {
		if err := step(); err != nil {
			return fmt.Errorf("step %d: %w", n, err)
		}
	}
	return nil
}

// readTo marks the log and reads it up to there.
func readTo(c *ramdisk.Control, mark string) error {
	if err := c.Mark(mark); err != nil {
		return err
	}
	f, err := ramdisk.OpenLog()
	if err != nil {
		return err
	}
	defer f.Close()
	for r := ramdisk.NewReader(f); ; {
		rec, err := r.Next()
		if err != nil {
			return err
		}
		if rec.Type == ramdisk.Mark && string(rec.Data) == mark {
			return nil
		}
	}
}
