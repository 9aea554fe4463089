package main

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"

	"golang.org/x/sys/unix"

	"fsward/explore/ramdisk"
)

// checkInject checks that the rules for injected faults have the effects that they promise, for
// programs and for the kernel.
func checkInject(c *ramdisk.Control) error {
	d, err := c.Make(0, 16<<20)
	if err != nil {
		return err
	}
	f, err := direct(d)
	if err != nil {
		return err
	}
	for _, t := range []struct {
		name string
		run  func(c *ramdisk.Control, d *ramdisk.Disk, f int) error
	}{
		{"fail", injectFail},
		{"tear", injectTear},
		{"delay", injectDelay},
		{"hurry", injectHurry},
		{"meet", injectMeet},
		{"flush", injectFlush},
		{"limits", injectLimits},
	} {
		if err := t.run(c, d, f); err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
		s, err := d.Stat()
		if err != nil {
			return err
		}
		if s.Rules != 0 {
			return fmt.Errorf("%s: %d rules are left", t.name, s.Rules)
		}
	}
	if err := unix.Close(f); err != nil {
		return err
	}
	if err := injectKernel(d); err != nil {
		return err
	}
	return d.Remove()
}

// fill fills a buffer with one byte value.
func fill(b []byte, with byte) []byte {
	for i := range b {
		b[i] = with
	}
	return b
}

// failNth returns a rule that fails the operations op from the n-th on, the given number of times.
func failNth(op ramdisk.Op, n, times uint64, errno unix.Errno) ramdisk.Rule {
	return ramdisk.Rule{
		Action: ramdisk.Fail, Ops: []ramdisk.Op{op}, Error: uint32(errno), Nth: n, Times: times,
	}
}

// injectFail checks that the chosen operations fail with the chosen error and without an effect,
// and that the others succeed.
func injectFail(_ *ramdisk.Control, d *ramdisk.Disk, f int) error {
	b := alignedPage()
	if err := d.Inject(failNth(ramdisk.Write, 2, 1, unix.ENOSPC)); err != nil {
		return err
	}
	for i, want := range []error{nil, unix.ENOSPC, nil} {
		if _, err := unix.Pwrite(f, fill(b, byte(i+1)), 0); !errors.Is(err, want) {
			return fmt.Errorf("write %d ends with %q, want %q", i+1, fmt.Sprint(err), fmt.Sprint(want))
		}
		if _, err := unix.Pread(f, b, 0); err != nil {
			return err
		}
		if held := []byte{1, 1, 3}[i]; b[0] != held || b[len(b)-1] != held {
			return fmt.Errorf("after write %d the disk holds %d, want %d", i+1, b[0], held)
		}
	}
	if err := d.Inject(failNth(ramdisk.Read, 3, 2, unix.EIO)); err != nil {
		return err
	}
	for i, want := range []error{nil, nil, unix.EIO, unix.EIO, nil} {
		if _, err := unix.Pread(f, b, 4096); !errors.Is(err, want) {
			return fmt.Errorf("read %d ends with %q, want %q", i+1, fmt.Sprint(err), fmt.Sprint(want))
		}
	}
	return nil
}

// injectTear checks that a torn write changes only its first sectors, both if it succeeds and if it
// fails.
func injectTear(_ *ramdisk.Control, d *ramdisk.Disk, f int) error {
	b := alignedPage()
	for _, want := range []error{nil, unix.EIO} {
		errno := uint32(0)
		if want != nil {
			errno = uint32(unix.EIO)
		}
		if _, err := unix.Pwrite(f, fill(b, 1), 8192); err != nil {
			return err
		}
		rule := ramdisk.Rule{
			Action: ramdisk.Tear,
			Ops:    []ramdisk.Op{ramdisk.Write},
			Error:  errno,
			Nth:    1,
			Times:  1,
			Arg:    3, // sectors
		}
		if err := d.Inject(rule); err != nil {
			return err
		}
		if _, err := unix.Pwrite(f, fill(b, 2), 8192); !errors.Is(err, want) {
			return fmt.Errorf("the torn write ends with %q, want %q", fmt.Sprint(err), fmt.Sprint(want))
		}
		if _, err := unix.Pread(f, b, 8192); err != nil {
			return err
		}
		torn := slices.Concat(bytes.Repeat([]byte{2}, 3*ramdisk.SectorSize),
			bytes.Repeat([]byte{1}, 5*ramdisk.SectorSize))
		if !bytes.Equal(b, torn) {
			return errors.New("the page does not hold three new sectors and five old ones")
		}
	}
	return nil
}

// injectFlush checks that a dropped flush succeeds and is marked as dropped in the log, and that a
// flush fails with the injected error.
func injectFlush(c *ramdisk.Control, d *ramdisk.Disk, f int) error {
	var dropped []bool
	err := readLog(c, func() error {
		if err := d.Log(true); err != nil {
			return err
		}
		if err := d.Inject(ramdisk.Rule{Action: ramdisk.DropFlush, Nth: 2, Times: 1}); err != nil {
			return err
		}
		for range 3 {
			if err := unix.Fsync(f); err != nil {
				return err
			}
		}
		return d.Log(false)
	}, func(r *ramdisk.Record) error {
		if r.Type == ramdisk.Complete && r.Op == ramdisk.Flush {
			dropped = append(dropped, r.Injected.Has(ramdisk.DropFlush))
		}
		return nil
	})
	if err != nil {
		return err
	}
	if !slices.Equal(dropped, []bool{false, true, false}) {
		return fmt.Errorf("the log marks the flushes as dropped: %v, want only the second", dropped)
	}
	if err := d.Inject(failNth(ramdisk.Flush, 1, 1, unix.EIO)); err != nil {
		return err
	}
	if err := unix.Fsync(f); !errors.Is(err, unix.EIO) {
		return errors.Join(errors.New("the injected error of a flush is not EIO"), err)
	}
	return unix.Fsync(f)
}

// injectLimits checks that the module refuses invalid rules, rules and disks beyond its limits, a
// disk that exists, and the removal of an open disk.
func injectLimits(c *ramdisk.Control, d *ramdisk.Disk, _ int) error {
	w := []ramdisk.Op{ramdisk.Write}
	for _, r := range []ramdisk.Rule{
		{},
		{Action: ramdisk.Fail, Ops: w, Nth: 1, Times: 1},
		{Action: ramdisk.Fail, Ops: w, Error: 5, Times: 1},
		{Action: ramdisk.Fail, Ops: w, Error: 5, Nth: 1},
		{Action: ramdisk.Fail, Ops: []ramdisk.Op{0}, Error: 5, Nth: 1, Times: 1},
		{Action: ramdisk.Delay, Ops: w, Nth: 1, Times: 2, Arg: 1},
		{Action: ramdisk.Delay, Ops: w, Nth: 1, Times: 1, Arg: ramdisk.MaxDelayMS + 1},
		{Action: ramdisk.Tear, Ops: []ramdisk.Op{ramdisk.Read}, Nth: 1, Times: 1},
		{Action: ramdisk.DropFlush, Ops: w, Nth: 1, Times: 1},
		{Action: 9, Ops: w, Nth: 1, Times: 1},
	} {
		if err := d.Inject(r); !errors.Is(err, unix.EINVAL) {
			return errors.Join(fmt.Errorf("the rule %+v does not fail with EINVAL", r), err)
		}
	}
	never := failNth(ramdisk.Write, math.MaxUint64, math.MaxUint64, unix.EIO)
	for range ramdisk.MaxRules {
		if err := d.Inject(never); err != nil {
			return err
		}
	}
	if err := d.Inject(never); !errors.Is(err, unix.ENOSPC) {
		return errors.Join(errors.New("one rule too many does not fail with ENOSPC"), err)
	}
	if _, err := c.Make(ramdisk.MaxDisks, 4096); !errors.Is(err, unix.EINVAL) {
		return errors.Join(errors.New("one disk too many does not fail with EINVAL"), err)
	}
	if _, err := c.Make(0, 4096); !errors.Is(err, unix.EEXIST) {
		return errors.Join(errors.New("to make a disk that exists does not fail with EEXIST"), err)
	}
	if err := d.Remove(); !errors.Is(err, unix.EBUSY) {
		return errors.Join(errors.New("to remove an open disk does not fail with EBUSY"), err)
	}
	return d.ClearRules()
}
