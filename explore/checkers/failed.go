package checkers

import (
	"errors"

	"golang.org/x/sys/unix"

	"fsward/explore"
	"fsward/explore/agent"
	"fsward/explore/model"
	"fsward/explore/ramdisk"
)

// Failed checks that failed system calls have no effect, and that all others have their specified
// effect (EXPLODE 7.2; FiSC 4.2). A call fails because its arguments are invalid, or because the
// disk fails one of the first reads and writes that it needs. A failed pwrite(2) may have written a
// part. After a fault a file system may also stop itself, as XFS does, so that each call gives EIO
// until the next mount. Then that mount has to show a tree that a crash may leave.
type Failed struct {
	Core
	On     Storage
	Disk   uint32 // the disk that fails
	Faults uint32 // how many of its first bios fail, one in each execution; 0: 3
}

// Crashless says that the checker requests no crashes.
func (*Failed) Crashless() {}

// Mutate does one operation, with or without a fault of the disk, and compares the whole tree.
func (c *Failed) Mutate(e *explore.Env) error {
	if c.torn {
		return nil
	}
	faults := c.Faults
	if faults == 0 {
		faults = 3
	}
	t := c.topology()
	ops := c.choose(e, t.invalid()...)
	nth := e.ChooseAt(faults+1, "bio that fails")
	before := c.fs.Clone()
	c.faulty = nth > 0
	kinds := []ramdisk.Op{ramdisk.Read, ramdisk.Write}
	err := withFault(e, c.Disk, nth, kinds, func() error { return c.Step(e, ops) })
	if err != nil {
		return err
	}
	if c.torn {
		err = c.checkPartial(e, before.Clone())
	} else {
		err = c.Same(e)
	}
	stopped, askErr := c.stopped(e, err)
	if askErr != nil {
		return askErr
	}
	if stopped {
		err = c.checkStopped(e, before)
	}
	if nth > 0 || stopped {
		c.torn = true // the file system may be read-only now: no further step
	}
	return err
}

// stopped reports whether a comparison of the tree gave the error err because the file system has
// stopped itself after a fault: nothing of it can be read.
func (c *Failed) stopped(e *explore.Env, err error) (bool, error) {
	var f *explore.Failure
	if !errors.As(err, &f) || !c.faulty && !c.Limits.Faults {
		return false, nil
	}
	r, err := e.Try(agent.Tree(c.At))
	return err == nil && r[0].Errno == unix.EIO, err
}

// checkStopped mounts a file system that has stopped itself again, and checks the tree: nothing
// that was forced to the disk is missing, and the rest is as after a crash.
func (c *Failed) checkStopped(e *explore.Env, before *model.FS) error {
	for _, o := range c.did {
		before.ApplyVolatile(o)
	}
	before.CloseAll()
	if err := remount(e, c.On, "cannot be mounted again"); err != nil {
		return err
	}
	return checkAllowed(e, c.At, before)
}

// checkPartial checks the tree after a failed write: each sector has its old or its new content,
// and everything else is as before.
func (c *Failed) checkPartial(e *explore.Env, before *model.FS) error {
	before.Synced()
	for _, o := range c.did {
		before.ApplyVolatile(o)
	}
	before.CloseAll()
	return checkAllowed(e, c.At, before)
}

// withFault calls f while the disk fails the nth bio of some kinds, counted from 1 from now on.
// With nth 0 the disk does not fail. It drops the kernel's caches first.
func withFault(e *explore.Env, disk, nth uint32, kinds []ramdisk.Op, f func() error) error {
	if nth == 0 {
		return f()
	}
	if _, err := e.Do(agent.DropCaches(), agent.DiskInject(disk, failing(kinds, nth))); err != nil {
		return err
	}
	err := f()
	if _, clear := e.Do(agent.DiskClear(disk)); err == nil {
		err = clear
	}
	return err
}

// failing returns a rule that makes a disk fail the nth bio of some kinds, counted from 1.
func failing(kinds []ramdisk.Op, nth uint32) ramdisk.Rule {
	return ramdisk.Rule{
		Action: ramdisk.Fail, Ops: kinds, Nth: uint64(nth), Times: 1, Error: uint32(unix.EIO),
	}
}

// Check does nothing: the checker tries no crashes.
func (c *Failed) Check(*explore.Env, explore.Crash) error { return nil }
