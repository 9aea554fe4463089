package checkers

import "fsward/explore"

// Failed asks whether system calls that fail have no effect, and those that succeed the one that they should (EXPLODE, 7.2; FiSC, 4.2).
// That they fail for want of memory or of the disk is the explorer's doing; those that have to fail anyway are among the steps. A
// pwrite(2) that fails may have written a part.
type Failed struct{ Core }

// Mutate does one operation, and compares all that is there then.
func (c *Failed) Mutate(e *explore.Env) error {
	if c.torn {
		return nil
	}
	before := c.fs.Clone()
	ops := choose(e, append(c.Steps(), c.refused()...))
	if err := c.Step(e, ops); err != nil {
		return err
	}
	if !c.torn {
		return c.Same(e)
	}
	// What the write left is, of each sector, what was there before or what was to be written; all else is as it was.
	before.Synced()
	for _, o := range ops {
		before.ApplyVolatile(o)
	}
	before.CloseAll()
	s, err := look(e, c.At, before)
	if err != nil {
		return err
	}
	return found(before.Allowed(s))
}

// Check has nothing to ask: no crashes are tried.
func (c *Failed) Check(*explore.Env, explore.Crash) error { return nil }
