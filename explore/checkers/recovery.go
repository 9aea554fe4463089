package checkers

import (
	"errors"

	"fsward/explore"
)

// Storage is the file system that a checker stands on, as far as Recovery, Silent, Unmount and Leaks use it: *component.Component.
type Storage interface {
	explore.Component
	Verify(e *explore.Env) error // a comprehensive check, unmounted, that changes nothing
}

// Recovery is Reasonable, and asks more of the recovery itself: what recovered once has nothing left to repair by the file system's
// comprehensive check (FiSC, double fsck), and recovering again, as after a crash during recovery, gives the same (EXPLODE, 6.3).
type Recovery struct {
	Reasonable
	On Storage
}

// Check asks what was recovered, and recovers it again.
func (c *Recovery) Check(e *explore.Env, crash explore.Crash) error {
	if err := c.Reasonable.Check(e, crash); err != nil {
		return err
	}
	once, err := look(e, c.At, expected(crash))
	if err != nil {
		return err
	}
	if err := c.On.Unmount(e); err != nil {
		return failed("cannot be unmounted", err)
	}
	if err := c.On.Verify(e); err != nil {
		return failed("not repaired", err)
	}
	if err := c.On.Recover(e); err != nil {
		return failed("cannot be recovered again", err)
	}
	if err := c.On.Mount(e); err != nil {
		return failed("cannot be mounted again", err)
	}
	twice, err := look(e, c.At, expected(crash))
	if err != nil {
		return err
	}
	return found(once.Same(twice))
}

// failed makes a command that failed a *Found; other errors stay what they are.
func failed(kind string, err error) error {
	var c *explore.CommandError
	if errors.As(err, &c) {
		return explore.Failuref(kind, "%v", c)
	}
	return err
}
