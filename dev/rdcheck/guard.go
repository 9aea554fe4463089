package main

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"fsward/explore/ramdisk"
)

// checkGuard: what changes a guarded disk is done when it is allowed, and never when it is refused; reads do not wait; what is held when
// contents are put back fails.
func checkGuard(c *ramdisk.Control) error {
	d, err := c.Make(0, 1<<20)
	if err != nil {
		return err
	}
	f, err := direct(d)
	if err != nil {
		return err
	}
	if err := d.Guard(true); !errors.Is(err, unix.EINVAL) {
		return errors.Join(errors.New("a disk without a log is guarded"), err)
	}
	if err := <-written(f, 1, 0); err != nil {
		return err
	}
	if err := d.Snapshot("s"); err != nil {
		return err
	}
	came, ended := make(chan ramdisk.Record, 64), make(map[uint64]unix.Errno)
	err = logged(c, func() error {
		return errors.Join(d.Log(true), d.Guard(true), guarded(d, f, came), d.Guard(false), <-written(f, 7, 0), d.Log(false))
	}, func(r *ramdisk.Record) error {
		switch {
		case r.Type == ramdisk.Submit && r.Op != ramdisk.Read:
			came <- ramdisk.Record{ID: r.ID, Op: r.Op, Flags: r.Flags}
		case r.Type == ramdisk.Complete && r.Op != ramdisk.Read:
			ended[r.ID] = r.Status
		}
		return nil
	})
	if err != nil {
		return err
	}
	var failed int
	for _, errno := range ended {
		if errno == unix.EIO {
			failed++
		}
	}
	if failed != 3 { // a write and a flush that were refused, and a write that had no answer
		return fmt.Errorf("the log has %d bios that failed, of %v", failed, ended)
	}
	if err := errors.Join(unix.Close(f), d.Drop("s")); err != nil {
		return err
	}
	return d.Remove()
}

// checkPatience: what has no answer fails when its time, of which the module is told, is up, and not before.
func checkPatience(c *ramdisk.Control) error {
	d, err := c.Make(0, 1<<20)
	if err != nil {
		return err
	}
	f, err := direct(d)
	if err != nil {
		return err
	}
	begin := time.Now()
	err = logged(c, func() error {
		if err := errors.Join(d.Log(true), d.Guard(true)); err != nil {
			return err
		}
		if err := <-written(f, 1, 0); !errors.Is(err, unix.EIO) {
			return errors.Join(errors.New("a write that nobody has answered did not fail"), err)
		}
		return errors.Join(d.Guard(false), d.Log(false))
	}, func(*ramdisk.Record) error { return nil })
	if err != nil {
		return err
	}
	if took := time.Since(begin); took < patience || took > 20*time.Second {
		return fmt.Errorf("a write that nobody has answered took %v", took)
	}
	var page, zero [ramdisk.PageSize]byte
	if err := d.Page(0, &page); err != nil {
		return err
	}
	if page != zero {
		return errors.New("a write that nobody has answered is on the disk")
	}
	return errors.Join(unix.Close(f), d.Remove())
}

// patience is what the module is told for checkPatience.
const patience = 700 * time.Millisecond

// guarded does what waits, and answers. came are the bios.
func guarded(d *ramdisk.Disk, f int, came <-chan ramdisk.Record) error {
	holds := func(want byte) error {
		b := alignedPage()
		if _, err := unix.Pread(f, b, 0); err != nil {
			return err
		}
		if b[0] != want {
			return fmt.Errorf("the disk holds %d, and not %d", b[0], want)
		}
		return nil
	}
	waits := func(done <-chan error, op ramdisk.Op) (uint64, error) {
		select {
		case r := <-came:
			if r.Op != op {
				return 0, fmt.Errorf("%v came, and not %v", r.Op, op)
			}
			select {
			case err := <-done:
				return 0, errors.Join(fmt.Errorf("%v did not wait", op), err)
			case <-time.After(50 * time.Millisecond):
				return r.ID, nil
			}
		case <-time.After(10 * time.Second):
			return 0, fmt.Errorf("the log does not have %v", op)
		}
	}
	flushed := func() <-chan error {
		done := make(chan error, 1)
		go func() { done <- unix.Fsync(f) }()
		return done
	}
	for _, t := range []struct {
		op            ramdisk.Op
		begin         func() <-chan error
		errno         unix.Errno
		before, after byte // what the disk holds while it waits, and then
	}{
		{ramdisk.Write, func() <-chan error { return written(f, 2, 0) }, 0, 1, 2},
		{ramdisk.Write, func() <-chan error { return written(f, 3, 0) }, unix.EIO, 2, 2},
		{ramdisk.Flush, flushed, 0, 2, 2},
		{ramdisk.Flush, flushed, unix.EIO, 2, 2},
	} {
		done := t.begin()
		id, err := waits(done, t.op)
		if err != nil {
			return err
		}
		if err := holds(t.before); err != nil {
			return err
		}
		if err := d.Answer(id, uint32(t.errno)); err != nil {
			return err
		}
		err = <-done
		if (t.errno == 0) != (err == nil) || err != nil && !errors.Is(err, t.errno) {
			return errors.Join(fmt.Errorf("%v was answered with %d and did not end so", t.op, uint32(t.errno)), err)
		}
		if err := holds(t.after); err != nil {
			return err
		}
		if err := d.Answer(id, 0); !errors.Is(err, unix.ENOENT) {
			return errors.Join(fmt.Errorf("%v can be answered twice", t.op), err)
		}
	}
	done := written(f, 4, 0)
	if _, err := waits(done, ramdisk.Write); err != nil {
		return err
	}
	if _, err := d.Restore("s"); err != nil {
		return err
	}
	if err := <-done; !errors.Is(err, unix.EIO) {
		return errors.Join(errors.New("contents were put back, and a write without an answer did not fail"), err)
	}
	return holds(1)
}
