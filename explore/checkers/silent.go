package checkers

import (
	"slices"

	"fsward/explore"
	"fsward/explore/model"
	"fsward/explore/ramdisk"
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
	// Of sync(2) nobody learns that it failed: it returns nothing.
	ways := slices.DeleteFunc(c.syncing(ops), func(way []model.Op) bool { return way[0].Code == model.Sync })
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
	all := slices.Concat(ops, way)
	said := false
	err := failing(e, c.Disk, nth, []ramdisk.Op{ramdisk.Write}, func() (err error) {
		said, err = c.told(e, all)
		return err
	})
	if err != nil {
		return err
	}
	c.torn = true // the file system may be read-only now: this is as far as this way leads
	if said {
		return nil
	}
	for _, o := range all {
		before.Apply(o)
	}
	before.CloseAll()
	if err := c.On.Unmount(e); err != nil {
		return failed("cannot be unmounted", err)
	}
	for _, f := range []func(*explore.Env) error{c.On.Recover, c.On.Mount} {
		if err := f(e); err != nil {
			return failed("silent failure", err)
		}
	}
	if err := allowed(e, c.At, before); err != nil {
		return explore.Failuref("silent failure", "write %d to the disk failed, no call said so, and after mounting again: %v", nth, err)
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
