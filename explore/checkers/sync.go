package checkers

import (
	"golang.org/x/sys/unix"

	"fsward/explore"
	"fsward/explore/model"
)

// Sync checks that data that was forced to the disk is there after a crash. Data is forced by
// sync(2), syncfs(2), fsync(2), by fdatasync(2) with fsync of the directories, by writes through
// O_SYNC and O_DSYNC, and by the mount options sync and dirsync (EXPLODE 7.3).
type Sync struct{ Core }

// Mutate does one operation. It then forces its effect to the disk in one of the possible ways, or
// does not. If something is durable now, it tries crashes.
func (c *Sync) Mutate(e *explore.Env) error {
	ops := choose(e, c.Steps())
	if err := c.Step(e, ops); err != nil {
		return err
	}
	var syncs [][]model.Op
	if !c.Promises.Sync { // with -o sync only the mount option is tested
		syncs = c.syncs(ops)
	}
	if how := e.ChooseAt(uint32(len(syncs)+1), "sync"); how > 0 {
		if err := c.Step(e, syncs[how-1]); err != nil {
			return err
		}
		ops = syncs[how-1]
	}
	property := durableBy(c.Promises, ops)
	if property == "" {
		return nil
	}
	return e.CheckCrashesNow(durableState{c.fs.Clone(), property})
}

// A durableState is the state expected after a crash, with the call or mount option that made it
// durable.
type durableState struct {
	*model.FS
	property string
}

// Property returns the call or mount option that made the state durable.
func (s durableState) Property() string { return s.property }

// durableBy returns the call or mount option that makes a step durable when it returns, or "".
func durableBy(p model.Promises, ops []model.Op) string {
	switch {
	case p.Sync:
		return "mount -o sync"
	case ops[0].Code == model.Sync:
		return "sync"
	}
	for _, o := range ops {
		switch o.Code {
		case model.Syncfs:
			return "syncfs"
		case model.Fsync:
			return "fsync"
		case model.Fdatasync:
			return "fdatasync"
		}
	}
	switch flags := ops[0].Flags; {
	case ops[0].Code == model.Open && flags&unix.O_SYNC == unix.O_SYNC:
		return "O_SYNC"
	case ops[0].Code == model.Open && flags&unix.O_DSYNC != 0:
		return "O_DSYNC"
	case p.Dirsync:
		return "mount -o dirsync"
	}
	return ""
}

// Check checks the recovered tree.
func (c *Sync) Check(e *explore.Env, crash explore.Crash) error {
	return checkAllowed(e, c.At, crash.After.(durableState).FS)
}
