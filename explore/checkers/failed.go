package checkers

import (
	"golang.org/x/sys/unix"

	"fsward/explore"
	"fsward/explore/agent"
	"fsward/explore/model"
	"fsward/explore/ramdisk"
)

// Failed asks whether system calls that fail have no effect, and those that succeed the one that they should (EXPLODE, 7.2; FiSC, 4.2).
// They fail because they have to, or because the disk does not do one of the first reads and writes that they need. A pwrite(2)
// that fails may have written a part.
type Failed struct {
	Core
	Disk   uint32 // that fails
	Faults uint32 // how many of its first bios are made to fail, each in a way of its own; 0: 3
}

// Mutate does one operation, on a disk that fails or not, and compares all that is there then.
func (c *Failed) Mutate(e *explore.Env) error {
	if c.torn {
		return nil
	}
	faults := c.Faults
	if faults == 0 {
		faults = 3
	}
	ops := choose(e, append(c.Steps(), c.refused()...))
	nth := e.ChooseAt(faults+1, "bio that fails")
	before := c.fs.Clone()
	err := failing(e, c.Disk, nth, []ramdisk.Op{ramdisk.Read, ramdisk.Write}, func() error { return c.Step(e, ops) })
	if err != nil {
		return err
	}
	if c.torn {
		err = c.part(e, before, ops)
	} else {
		err = c.Same(e)
	}
	if nth > 0 {
		c.torn = true // the file system may be read-only now: this is as far as this way leads
	}
	return err
}

// part asks for what a write left that failed: of each sector what was there before or what was to be written. All else is as it was.
func (c *Failed) part(e *explore.Env, before *model.FS, ops []model.Op) error {
	before.Synced()
	for _, o := range ops {
		before.ApplyVolatile(o)
	}
	before.CloseAll()
	return allowed(e, c.At, before)
}

// failing calls f while one bio of a disk fails, the nth from now on; 0: none. What the kernel has cached is forgotten before.
func failing(e *explore.Env, disk, nth uint32, kinds []ramdisk.Op, f func() error) error {
	if nth == 0 {
		return f()
	}
	rule := ramdisk.Rule{Action: ramdisk.Fail, Ops: kinds, Nth: uint64(nth), Times: 1, Error: uint32(unix.EIO)}
	if _, err := e.Do(agent.DropCaches(), agent.DiskInject(disk, rule)); err != nil {
		return err
	}
	err := f()
	if _, clear := e.Do(agent.DiskClear(disk)); err == nil {
		err = clear
	}
	return err
}

// Check has nothing to ask: no crashes are tried.
func (c *Failed) Check(*explore.Env, explore.Crash) error { return nil }
