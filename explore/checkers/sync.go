package checkers

import (
	"golang.org/x/sys/unix"

	"fsward/explore"
	"fsward/explore/model"
)

// Sync asks whether what was forced to the disk is there after a crash: by sync(2), syncfs(2), fsync(2), fdatasync(2) with fsync of the
// directories, writes through O_SYNC and O_DSYNC, and by mounting with -o sync or -o dirsync (EXPLODE, 7.3).
type Sync struct{ Core }

// Mutate does one operation, and forces it to the disk in one of the ways that there are, or not.
func (c *Sync) Mutate(e *explore.Env) error {
	ops := choose(e, c.Steps())
	if err := c.Step(e, ops); err != nil {
		return err
	}
	ways := syncing(ops)
	forced := forces(c.Promises, ops)
	if how := e.ChooseAt(uint32(len(ways)+1), "sync"); how > 0 {
		forced = true
		if err := c.Step(e, ways[how-1]); err != nil {
			return err
		}
	}
	if !forced {
		return nil
	}
	return e.CheckCrashesNow(c.fs.Clone())
}

// forces says that a step is on the disk when it returns.
func forces(p model.Promises, ops []model.Op) bool {
	if p.Sync || p.Dirsync {
		return true
	}
	return ops[0].Code == model.Open && ops[0].Flags&unix.O_DSYNC != 0
}

// Check asks what was recovered.
func (c *Sync) Check(e *explore.Env, crash explore.Crash) error {
	return allowed(e, c.At, crash.After.(*model.FS))
}
