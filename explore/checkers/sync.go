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
	var ways [][]model.Op
	if !c.Promises.Sync { // else that is what is asked for, and nothing beside it forces anything
		ways = c.syncing(ops)
	}
	if how := e.ChooseAt(uint32(len(ways)+1), "sync"); how > 0 {
		if err := c.Step(e, ways[how-1]); err != nil {
			return err
		}
		ops = ways[how-1]
	}
	by := forcedBy(c.Promises, ops)
	if by == "" {
		return nil
	}
	return e.CheckCrashesNow(forced{c.fs.Clone(), by})
}

// forced is what is expected where something forced it to the disk.
type forced struct {
	*model.FS
	by string
}

// Property names what did.
func (f forced) Property() string { return f.by }

// forcedBy says what has a step on the disk when it returns; "": nothing has.
func forcedBy(p model.Promises, ops []model.Op) string {
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

// Check asks what was recovered.
func (c *Sync) Check(e *explore.Env, crash explore.Crash) error {
	return allowed(e, c.At, crash.After.(forced).FS)
}
