package checkers

import "fsward/explore"

// Unmount asks whether all is there when the file system was unmounted and is mounted again, and after a crash in between. What no sync
// had on the disk then is on no other checker's mind.
type Unmount struct {
	Core
	On Storage
}

// Mutate does one operation, unmounts with crashes after that, mounts again and compares all that is there.
func (c *Unmount) Mutate(e *explore.Env) error {
	if c.torn {
		return nil
	}
	if err := c.Step(e, choose(e, c.Steps())); err != nil {
		return err
	}
	if err := c.On.Unmount(e); err != nil {
		return failed("cannot be unmounted", err)
	}
	c.fs.Synced()
	if err := e.CheckCrashesNow(forced{c.fs.Clone(), "unmount"}); err != nil {
		return err
	}
	if err := c.On.Mount(e); err != nil {
		return failed("cannot be mounted again", err)
	}
	return c.Same(e)
}

// Check asks what was recovered.
func (c *Unmount) Check(e *explore.Env, crash explore.Crash) error {
	return allowed(e, c.At, crash.After.(forced).FS)
}
