package main

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"fsward/explore/ramdisk"
)

// checkGuard checks that a guarded disk does a change when it is allowed, and never when it is refused, that reads do not wait,
// and that a bio which is held when contents are put back fails.
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
		return errors.Join(errors.New("guarding a disk without a log does not fail with EINVAL"), err)
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
	if failed != 3 { // a write and a flush were refused, and a write had no answer
		return fmt.Errorf("%d bios failed with EIO, want 3: %v", failed, ended)
	}
	if err := errors.Join(unix.Close(f), d.Drop("s")); err != nil {
		return err
	}
	return d.Remove()
}

// checkPatience checks that a bio without an answer fails when the module's hold_ms is over, and not before.
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
			return errors.Join(errors.New("a write without an answer did not fail with EIO"), err)
		}
		return errors.Join(d.Guard(false), d.Log(false))
	}, func(*ramdisk.Record) error { return nil })
	if err != nil {
		return err
	}
	if took := time.Since(begin); took < patience || took > 20*time.Second {
		return fmt.Errorf("a write without an answer took %v", took)
	}
	var page, zero [ramdisk.PageSize]byte
	if err := d.Page(0, &page); err != nil {
		return err
	}
	if page != zero {
		return errors.New("a write without an answer is on the disk")
	}
	return errors.Join(unix.Close(f), d.Remove())
}

// patience is the hold_ms of the module for checkPatience.
const patience = 700 * time.Millisecond

// guardTrial does what waits on a guarded disk, and answers it.
type guardTrial struct {
	d    *ramdisk.Disk
	f    int                   // the disk, opened with O_DIRECT
	came <-chan ramdisk.Record // the bios
}

// guarded answers a write and a flush with yes and with no, and leaves a write without an answer until the contents are put back.
func guarded(d *ramdisk.Disk, f int, came <-chan ramdisk.Record) error {
	t := &guardTrial{d, f, came}
	for _, a := range []struct {
		op            ramdisk.Op
		begin         func() <-chan error
		errno         unix.Errno
		before, after byte // what the disk holds while the bio waits, and then
	}{
		{ramdisk.Write, func() <-chan error { return written(f, 2, 0) }, 0, 1, 2},
		{ramdisk.Write, func() <-chan error { return written(f, 3, 0) }, unix.EIO, 2, 2},
		{ramdisk.Flush, t.flushed, 0, 2, 2},
		{ramdisk.Flush, t.flushed, unix.EIO, 2, 2},
	} {
		done := a.begin()
		id, err := t.waits(done, a.op)
		if err != nil {
			return err
		}
		if err := t.holds(a.before); err != nil {
			return err
		}
		if err := t.answer(id, a.op, a.errno, done); err != nil {
			return err
		}
		if err := t.holds(a.after); err != nil {
			return err
		}
	}
	done := written(f, 4, 0)
	if _, err := t.waits(done, ramdisk.Write); err != nil {
		return err
	}
	if _, err := d.Restore("s"); err != nil {
		return err
	}
	if err := <-done; !errors.Is(err, unix.EIO) {
		return errors.Join(errors.New("contents were put back, and a write without an answer did not fail with EIO"), err)
	}
	return t.holds(1)
}

// answer answers a bio, and checks that it ends so and cannot be answered again.
func (t *guardTrial) answer(id uint64, op ramdisk.Op, errno unix.Errno, done <-chan error) error {
	if err := t.d.Answer(id, uint32(errno)); err != nil {
		return err
	}
	err := <-done
	if (errno == 0) != (err == nil) || err != nil && !errors.Is(err, errno) {
		return errors.Join(fmt.Errorf("the answer to %v was %d, and it ended otherwise", op, uint32(errno)), err)
	}
	if err := t.d.Answer(id, 0); !errors.Is(err, unix.ENOENT) {
		return errors.Join(fmt.Errorf("a second answer to %v does not fail with ENOENT", op), err)
	}
	return nil
}

// holds checks the first byte of the disk.
func (t *guardTrial) holds(want byte) error {
	b := alignedPage()
	if _, err := unix.Pread(t.f, b, 0); err != nil {
		return err
	}
	if b[0] != want {
		return fmt.Errorf("the disk holds %d, want %d", b[0], want)
	}
	return nil
}

// waits checks that an operation reaches the module and does not end, and returns the number of its bio.
func (t *guardTrial) waits(done <-chan error, op ramdisk.Op) (id uint64, err error) {
	select {
	case r := <-t.came:
		if r.Op != op {
			return 0, fmt.Errorf("the module was given %v, want %v", r.Op, op)
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

// flushed is a flush that another goroutine does.
func (t *guardTrial) flushed() <-chan error {
	done := make(chan error, 1)
	go func() { done <- unix.Fsync(t.f) }()
	return done
}
