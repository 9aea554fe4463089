package explore

import (
	"context"
	"fmt"
)

// A Rebooter is a System without checkpoints of memory: its Load boots another kernel, in which
// nothing is left of the stack but the disks.
type Rebooter interface {
	System
	// Worn reports whether it is time for another kernel, before this one has no memory left.
	Worn() bool
}

// worn reports whether the machine needs another kernel, and can have one now.
func (s *session) worn() bool {
	r, is := s.target.system.(Rebooter)
	return is && s.pristine != nil && r.Worn()
}

// remake makes the stack again after the machine has booted another kernel, for what its components
// keep outside of the disks: files, modules, devices. The next load restores the pristine disks.
func (s *session) remake(ctx context.Context) error {
	if _, is := s.target.system.(Rebooter); !is || len(s.disks.variants) == 0 {
		return nil
	}
	if err := s.disks.clear(ctx); err != nil {
		return err
	}
	choices := new(Chooser)
	choices.Load(Values(s.disks.variants[0].choices))
	if err := s.target.make(s.target.choosing(ctx, s.target.system, choices)); err != nil {
		return fmt.Errorf("in another kernel: %w", err)
	}
	var err error
	s.target.mounts, err = mountLines(s.target.env(ctx)) // with options that depend on its memory
	return err
}
