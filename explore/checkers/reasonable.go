package checkers

import (
	"fsward/explore"
	"fsward/explore/model"
)

// Reasonable asks whether what is recovered after a crash at any moment is what may be there: nothing that was on the disk is lost or
// damaged, nothing is there that never was, and what the file system promises of order and of renames holds (EXPLODE, 7.4).
type Reasonable struct{ Core }

// after is what is expected of crashes after the start.
type after struct {
	under *model.FS // the operation under way
	done  *model.FS // it returned
}

// Key tells expectations apart.
func (a after) Key() string { return a.under.Key() + a.done.Key() }

// Mutate does one operation, and sometimes forces it to the disk; crashes are tried all the while.
func (c *Reasonable) Mutate(e *explore.Env) error {
	ops := choose(e, c.Steps())
	ways := c.syncing(ops)
	how := e.ChooseAt(uint32(len(ways)+1), "sync")
	if err := c.watched(e, ops); err != nil || how == 0 {
		return err
	}
	return c.watched(e, ways[how-1])
}

// watched performs a step with crashes at its start, during it, and at its end.
func (c *Reasonable) watched(e *explore.Env, ops []model.Op) error {
	before := c.fs.Clone()
	under := before.Clone()
	if err := e.CheckCrashesStart(before); err != nil {
		return err
	}
	if err := c.Step(e, ops); err != nil {
		return err
	}
	for _, o := range ops {
		under.ApplyVolatile(o)
	}
	under.CloseAll()
	return e.CheckCrashesEnd(after{under, c.fs.Clone()})
}

// Check asks what was recovered.
func (c *Reasonable) Check(e *explore.Env, crash explore.Crash) error {
	return allowed(e, c.At, expected(crash))
}

// expected is what may be there after a crash.
func expected(crash explore.Crash) *model.FS {
	switch crash.Epoch {
	case explore.Begin:
		return crash.Before.(*model.FS)
	case explore.InBetween:
		return crash.After.(after).under
	default:
		return crash.After.(after).done
	}
}
