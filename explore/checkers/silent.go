package checkers

import (
	"slices"

	"fsward/explore"
	"fsward/explore/model"
	"fsward/explore/ramdisk"
)

// Silent checks that a failing disk is reported. If a write to the disk fails and all calls, with
// fsync(2), return success, then everything is there after the next mount (FiSC 4.1, "no silent
// failures").
type Silent struct {
	Core
	On    Storage
	Disk  uint32 // the disk whose writes fail
	Sites uint32 // how many of the first writes fail, one in each execution; 0: 6
}

// Mutate does one operation and forces it to the disk, while the disk fails one write or none.
func (c *Silent) Mutate(e *explore.Env) error {
	if c.torn {
		return nil
	}
	ops := choose(e, c.Steps())
	// sync(2) returns no error, so it cannot report a failure.
	syncs := slices.DeleteFunc(c.syncs(ops),
		func(s []model.Op) bool { return s[0].Code == model.Sync })
	sync := syncs[e.ChooseAt(uint32(len(syncs)), "sync")]
	sites := c.Sites
	if sites == 0 {
		sites = 6
	}
	nth := e.ChooseAt(sites+1, "write that fails")
	if nth == 0 {
		if err := c.Step(e, ops); err != nil {
			return err
		}
		return c.Step(e, sync)
	}
	want := c.fs.Clone()
	all := slices.Concat(ops, sync)
	reported := false
	writes := []ramdisk.Op{ramdisk.Write}
	err := withFault(e, c.Disk, nth, writes, func() (err error) {
		reported, err = c.reportsError(e, all)
		return err
	})
	if err != nil {
		return err
	}
	c.torn = true // the file system may be read-only now: no further step
	if reported {
		return nil
	}
	for _, o := range all {
		want.Apply(o)
	}
	want.CloseAll()
	return c.checkRemounted(e, want, nth)
}

// checkRemounted mounts the file system again and checks that nothing durable in want is missing.
// Write nth failed, and no call has reported it.
func (c *Silent) checkRemounted(e *explore.Env, want *model.FS, nth uint32) error {
	if err := c.On.Unmount(e); err != nil {
		return commandFailure("cannot be unmounted", err)
	}
	for _, f := range []func(*explore.Env) error{c.On.Recover, c.On.Mount} {
		if err := f(e); err != nil {
			return commandFailure("silent failure", err)
		}
	}
	if err := checkAllowed(e, c.At, want); err != nil {
		return explore.Failuref("silent failure",
			"write %d to the disk failed, no call reported it, and after the next mount: %v", nth, err)
	}
	return nil
}

// reportsError performs operations, and reports whether one of them returned an error.
func (c *Silent) reportsError(e *explore.Env, ops []model.Op) (bool, error) {
	results, err := e.Try(c.calls(ops)...)
	for _, r := range results {
		if r.Errno != 0 {
			return true, err
		}
	}
	return false, err
}

// Check does nothing: the checker tries no crashes.
func (c *Silent) Check(*explore.Env, explore.Crash) error { return nil }
