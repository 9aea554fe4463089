package checkers

import (
	"fsward/explore"
	"fsward/explore/agent"
	"fsward/explore/model"
	"fsward/explore/ramdisk"

	"golang.org/x/sys/unix"
)

// Silent asks whether a disk that fails is told of: where a write to the disk failed and all calls, fsync(2) among them, said that they
// had succeeded, all is there when it is mounted again (FiSC, 4.1, "no silent failures").
type Silent struct {
	Core
	On    Storage
	Disk  uint32 // whose writes fail
	Sites uint32 // which writes: one of the first so many; 0: 6
}

// Mutate does one operation and forces it to the disk while one write to it fails.
func (c *Silent) Mutate(e *explore.Env) error {
	if c.torn {
		return nil
	}
	ops := choose(e, c.Steps())
	ways := syncing(ops)
	way := ways[e.ChooseAt(uint32(len(ways)), "sync")]
	sites := c.Sites
	if sites == 0 {
		sites = 6
	}
	nth := e.ChooseAt(sites+1, "write that fails")
	if nth == 0 {
		if err := c.Step(e, ops); err != nil {
			return err
		}
		return c.Step(e, way)
	}
	before := c.fs.Clone()
	if _, err := e.Do(agent.DiskInject(c.Disk, ramdisk.Rule{Action: ramdisk.Fail, Ops: []ramdisk.Op{ramdisk.Write}, Nth: uint64(nth), Times: 1,
		Error: uint32(unix.EIO)})); err != nil {
		return err
	}
	said, err := c.told(e, append(append([]model.Op(nil), ops...), way...))
	if _, clear := e.Do(agent.DiskClear(c.Disk)); err == nil {
		err = clear
	}
	if err != nil {
		return err
	}
	c.torn = true // the file system may be read-only now: this is as far as this way leads
	if said {
		return nil
	}
	after := before
	for _, o := range append(append([]model.Op(nil), ops...), way...) {
		after.Apply(o)
	}
	after.CloseAll()
	if err := c.On.Unmount(e); err != nil {
		return failed("cannot be unmounted", err)
	}
	for _, f := range []func(*explore.Env) error{c.On.Recover, c.On.Mount} {
		if err := f(e); err != nil {
			return failed("silent failure", err)
		}
	}
	if err := allowed(e, c.At, after); err != nil {
		return explore.Foundf("silent failure", "write %d to the disk failed, no call said so, and after mounting again: %v", nth, err)
	}
	return nil
}

// told performs operations and says whether one of them told of an error.
func (c *Silent) told(e *explore.Env, ops []model.Op) (bool, error) {
	calls := make([]callOp, len(ops))
	for i, o := range ops {
		calls[i] = o.Call(c.At)
	}
	results, err := e.Try(calls...)
	for _, r := range results {
		if r.Errno != 0 {
			return true, err
		}
	}
	return false, err
}

// Check has nothing to ask: no crashes are tried.
func (c *Silent) Check(*explore.Env, explore.Crash) error { return nil }
