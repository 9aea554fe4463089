package checkers

import "fsward/explore"

// Unmount checks that everything is there after an unmount and a mount, and after a crash in
// between. Unlike the other checkers, it asks for data that no sync has made durable before the
// unmount.
type Unmount struct {
	Core
	On Storage
}

// Mutate does one operation, unmounts, tries crashes, mounts again and compares the whole tree.
func (c *Unmount) Mutate(e *explore.Env) error {
	if c.torn {
		return nil
	}
	if err := c.Step(e, c.choose(e)); err != nil {
		return err
	}
	if err := c.On.Unmount(e); err != nil {
		return commandFailure("cannot be unmounted", err)
	}
	c.unmounted()
	if err := e.CheckCrashesNow(durableState{c.fs.Clone(), "unmount"}); err != nil {
		return err
	}
	if err := c.On.Mount(e); err != nil {
		return commandFailure("cannot be mounted again", err)
	}
	return c.Same(e)
}

// Check checks the recovered tree.
func (c *Unmount) Check(e *explore.Env, crash explore.Crash) error {
	return checkAllowed(e, c.At, crash.After.(durableState).FS)
}
