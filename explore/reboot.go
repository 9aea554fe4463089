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

// worn reports whether the machine needs another kernel. Nothing may be mounted then.
func (t *target) worn() bool {
	r, is := t.system.(Rebooter)
	return is && r.Worn()
}

// remake makes the stack again after the machine has booted another kernel, for what its components
// keep outside of the disks: files, modules, devices. The next load restores the pristine disks.
func (d *diskSet) remake(ctx context.Context, t *target) (err error) {
	if _, is := t.system.(Rebooter); !is || len(d.variants) == 0 {
		return nil
	}
	if err := d.clear(ctx); err != nil {
		return err
	}
	choices := new(Chooser)
	choices.Load(Values(d.variants[0].choices))
	if err := t.make(t.choosing(ctx, t.system, choices)); err != nil {
		return fmt.Errorf("in another kernel: %w", err)
	}
	t.mounts, err = mountLines(t.env(ctx)) // with options that depend on its memory
	return err
}
