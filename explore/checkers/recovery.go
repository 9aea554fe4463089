package checkers

import (
	"errors"

	"fsward/explore"
)

// A Storage is the mounted file system that a checker drives. *component.Component implements it.
type Storage interface {
	explore.Component
	// Verify examines the whole file system, unmounted, and changes nothing.
	Verify(e *explore.Env) error
}

// Recovery is Reasonable with two more questions about the recovery. The file system's
// comprehensive check must find nothing left to repair (FiSC, double fsck). A second recovery, as
// after a crash during the first one, must give the same tree (EXPLODE 6.3).
type Recovery struct {
	Reasonable
	On Storage
}

// Check checks the recovered tree, verifies the file system, and recovers it again.
func (c *Recovery) Check(e *explore.Env, crash explore.Crash) error {
	if err := c.Reasonable.Check(e, crash); err != nil {
		return err
	}
	once, err := look(e, c.At, expected(crash))
	if err != nil {
		return err
	}
	if err := c.On.Unmount(e); err != nil {
		return commandFailure("cannot be unmounted", err)
	}
	if err := c.On.Verify(e); err != nil {
		return commandFailure("not repaired", err)
	}
	if err := c.On.Recover(e); err != nil {
		return commandFailure("cannot be recovered again", err)
	}
	if err := c.On.Mount(e); err != nil {
		return commandFailure("cannot be mounted again", err)
	}
	twice, err := look(e, c.At, expected(crash))
	if err != nil {
		return err
	}
	return asFailure(once.Same(twice))
}

// commandFailure converts the error of a failed command to a failure of a kind, and returns other
// errors unchanged.
func commandFailure(kind string, err error) error {
	var c *explore.CommandError
	if errors.As(err, &c) {
		return explore.Failuref(kind, "%v", c)
	}
	return err
}
