package checkers

import (
	"fsward/explore"
	"fsward/explore/model"
)

// Reasonable checks that the state recovered after a crash at any moment is an allowed one: nothing
// durable is lost or damaged, nothing appears that never existed, and the promises of the file
// system about order and rename hold (EXPLODE 7.4).
type Reasonable struct{ Core }

// A stepStates has the states that are expected after a crash in or after a step.
type stepStates struct {
	during *model.FS // the operations have not all returned
	after  *model.FS // they have returned
}

// Key returns a hash of both states. Equal keys allow the same trees.
func (s stepStates) Key() string { return s.during.Key() + s.after.Key() }

// Mutate does one operation, and may force it to the disk. It tries crashes at all moments.
func (c *Reasonable) Mutate(e *explore.Env) error {
	ops := c.choose(e)
	syncs := c.syncs(ops)
	how := e.ChooseAt(uint32(len(syncs)+1), "sync")
	if err := c.stepWithCrashes(e, ops); err != nil || how == 0 {
		return err
	}
	return c.stepWithCrashes(e, syncs[how-1])
}

// stepWithCrashes performs a step, and tries crashes at its start, during it, and at its end. It
// tries none during one that is inAnyOrder: what may be there follows from the order.
func (c *Reasonable) stepWithCrashes(e *explore.Env, ops []model.Op) error {
	if inAnyOrder(ops) {
		return c.Step(e, ops)
	}
	before := c.fs.Clone()
	during := before.Clone()
	if err := e.CheckCrashesStart(before); err != nil {
		return err
	}
	if err := c.Step(e, ops); err != nil {
		return err
	}
	for _, o := range c.did {
		during.ApplyVolatile(o)
	}
	during.CloseAll()
	return e.CheckCrashesEnd(stepStates{during, c.fs.Clone()})
}

// Check checks the recovered tree.
func (c *Reasonable) Check(e *explore.Env, crash explore.Crash) error {
	return checkAllowed(e, c.At, expected(crash))
}

// expected returns the state that decides what a crash may leave.
func expected(crash explore.Crash) *model.FS {
	switch crash.Epoch {
	case explore.Begin:
		return crash.Before.(*model.FS)
	case explore.InBetween:
		return crash.After.(stepStates).during
	default:
		return crash.After.(stepStates).after
	}
}
