package main

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"fsward/dev/guestcheck"
	"fsward/explore/ramdisk"
)

// checkCycles checks that the module leaks no memory when it is loaded, used and unloaded.
func checkCycles() error { return guestcheck.Leaks(cycle) }

// cycle loads the module, uses all its functions, and unloads it. In every other cycle the unload
// has to free a disk with contents, snapshots and rules, and an unread log.
func cycle(i int) (err error) {
	m := guestcheck.Module{Name: "fsw_ramdisk", Params: "log_mib=1"}
	if err := guestcheck.Load(m); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, guestcheck.Unload(m)) }()
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
	if err := useDisk(c, d); err != nil {
		return err
	}
	if i%2 == 1 {
		return nil
	}
	nothing := func() error { return nil }
	ignore := func(*ramdisk.Record) error { return nil }
	if err := readLog(c, nothing, ignore); err != nil {
		return err
	}
	return d.Remove()
}

// useDisk uses all functions of a disk.
func useDisk(c *ramdisk.Control, d *ramdisk.Disk) error {
	f, err := direct(d)
	if err != nil {
		return err
	}
	defer unix.Close(f)
	buf := alignedPage()
	defer func() { _ = unix.Munmap(buf) }()
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
	writes := []ramdisk.Op{ramdisk.Write}
	delay := ramdisk.Rule{Action: ramdisk.Delay, Ops: writes, Nth: 1, Times: 1, Arg: 1}
	fail := ramdisk.Rule{
		Action: ramdisk.Fail, Ops: writes, Error: uint32(unix.EIO), Nth: 1, Times: 1,
	}
	unused := ramdisk.Rule{Action: ramdisk.DropFlush, Nth: 100, Times: 1}
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
		func() error { return d.Inject(delay) },
		func() error { return write(10) },
		func() error { return d.Inject(fail) },
		func() error {
			if err := write(11); !errors.Is(err, unix.EIO) {
				return fmt.Errorf("write: %s, want EIO", guestcheck.Outcome(err))
			}
			return nil
		},
		func() error { return d.Inject(unused) },
		func() error { return unix.Fsync(f) },
	}
	for n, step := range steps {
		if err := step(); err != nil {
			return fmt.Errorf("step %d: %w", n, err)
		}
	}
	return nil
}
