package main

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"fsward/explore/ramdisk"
)

// checkGuard checks a guarded disk: it performs an allowed change and no refused one, reads do not
// wait for an answer, and a restore fails the held bios.
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
		return errors.Join(errors.New("to guard a disk without a log does not fail with EINVAL"), err)
	}
	if err := <-startWrite(f, 1, 0); err != nil {
		return err
	}
	if err := d.Snapshot("s"); err != nil {
		return err
	}
	submitted, completed := make(chan ramdisk.Record, 64), make(map[uint64]unix.Errno)
	err = readLog(c, func() error {
		return errors.Join(d.Log(true), d.Guard(true), tryGuard(d, f, submitted),
			d.Guard(false), <-startWrite(f, 7, 0), d.Log(false))
	}, func(r *ramdisk.Record) error {
		switch {
		case r.Type == ramdisk.Submit && r.Op != ramdisk.Read:
			submitted <- ramdisk.Record{ID: r.ID, Op: r.Op, Flags: r.Flags}
		case r.Type == ramdisk.Complete && r.Op != ramdisk.Read:
			completed[r.ID] = r.Status
		}
		return nil
	})
	if err != nil {
		return err
	}
	var failed int
	for _, errno := range completed {
		if errno == unix.EIO {
			failed++
		}
	}
	if failed != 3 { // a refused write, a refused flush, and a write without an answer
		return fmt.Errorf("%d bios failed with EIO, want 3: %v", failed, completed)
	}
	if err := errors.Join(unix.Close(f), d.Drop("s")); err != nil {
		return err
	}
	return d.Remove()
}

// checkHoldTime checks that a bio without an answer fails once the module's hold_ms have passed,
// and not before.
func checkHoldTime(c *ramdisk.Control) error {
	d, err := c.Make(0, 1<<20)
	if err != nil {
		return err
	}
	f, err := direct(d)
	if err != nil {
		return err
	}
	begin := time.Now()
	err = readLog(c, func() error {
		if err := errors.Join(d.Log(true), d.Guard(true)); err != nil {
			return err
		}
		if err := <-startWrite(f, 1, 0); !errors.Is(err, unix.EIO) {
			return errors.Join(errors.New("a write without an answer did not fail with EIO"), err)
		}
		return errors.Join(d.Guard(false), d.Log(false))
	}, func(*ramdisk.Record) error { return nil })
	if err != nil {
		return err
	}
	if took := time.Since(begin); took < holdTime || took > 20*time.Second {
		return fmt.Errorf("a write without an answer took %v, want %v to 20 s", took, holdTime)
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

// holdTime is the hold_ms of the module for checkHoldTime.
const holdTime = 700 * time.Millisecond

// A guardTrial starts operations on a guarded disk and answers their bios.
type guardTrial struct {
	d         *ramdisk.Disk
	f         int                   // the disk, opened with O_DIRECT
	submitted <-chan ramdisk.Record // the bios
}

// tryGuard allows and refuses a write and a flush, and leaves another write without an answer until
// a restore.
func tryGuard(d *ramdisk.Disk, f int, submitted <-chan ramdisk.Record) error {
	t := &guardTrial{d, f, submitted}
	for _, a := range []struct {
		op            ramdisk.Op
		begin         func() <-chan error
		errno         unix.Errno
		before, after byte // first byte of the disk while the bio waits, and after the answer
	}{
		{ramdisk.Write, func() <-chan error { return startWrite(f, 2, 0) }, 0, 1, 2},
		{ramdisk.Write, func() <-chan error { return startWrite(f, 3, 0) }, unix.EIO, 2, 2},
		{ramdisk.Flush, t.startFlush, 0, 2, 2},
		{ramdisk.Flush, t.startFlush, unix.EIO, 2, 2},
	} {
		done := a.begin()
		id, err := t.expectHeld(done, a.op)
		if err != nil {
			return err
		}
		if err := t.expectByte(a.before); err != nil {
			return err
		}
		if err := t.answer(id, a.op, a.errno, done); err != nil {
			return err
		}
		if err := t.expectByte(a.after); err != nil {
			return err
		}
	}
	done := startWrite(f, 4, 0)
	if _, err := t.expectHeld(done, ramdisk.Write); err != nil {
		return err
	}
	if _, err := d.Restore("s"); err != nil {
		return err
	}
	if err := <-done; !errors.Is(err, unix.EIO) {
		return errors.Join(errors.New("the restore did not fail the waiting write with EIO"), err)
	}
	return t.expectByte(1)
}

// answer answers a bio. It checks that the operation ends with errno, and that a second answer
// fails.
func (t *guardTrial) answer(id uint64, op ramdisk.Op, errno unix.Errno, done <-chan error) error {
	if err := t.d.Answer(id, uint32(errno)); err != nil {
		return err
	}
	err := <-done
	if (errno == 0) != (err == nil) || err != nil && !errors.Is(err, errno) {
		return errors.Join(fmt.Errorf("%v did not end with the answer %d", op, uint32(errno)), err)
	}
	if err := t.d.Answer(id, 0); !errors.Is(err, unix.ENOENT) {
		return errors.Join(fmt.Errorf("a second answer to %v does not fail with ENOENT", op), err)
	}
	return nil
}

// expectByte checks the first byte of the disk.
func (t *guardTrial) expectByte(want byte) error {
	b := alignedPage()
	if _, err := unix.Pread(t.f, b, 0); err != nil {
		return err
	}
	if b[0] != want {
		return fmt.Errorf("the disk holds %d, want %d", b[0], want)
	}
	return nil
}

// expectHeld checks that an operation reaches the module and waits there, and returns the number of
// its bio.
func (t *guardTrial) expectHeld(done <-chan error, op ramdisk.Op) (id uint64, err error) {
	select {
	case r := <-t.submitted:
		if r.Op != op {
			return 0, fmt.Errorf("the module got %v, want %v", r.Op, op)
		}
		select {
		case err := <-done:
			return 0, errors.Join(fmt.Errorf("%v did not wait", op), err)
		case <-time.After(50 * time.Millisecond):
			return r.ID, nil
		}
	case <-time.After(10 * time.Second):
		return 0, fmt.Errorf("%v is not in the log", op)
	}
}

// startFlush flushes the disk in another goroutine. The channel gets the result.
func (t *guardTrial) startFlush() <-chan error {
	done := make(chan error, 1)
	go func() { done <- unix.Fsync(t.f) }()
	return done
}
