//go:build vmtest

package host

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"fsward/explore"
	"fsward/explore/checkers"
	"fsward/explore/component"
	"fsward/explore/machine"
)

// TestGuestComponents runs random steps of the checkers on each file system of the guest, without a
// crash. The operations must have the results that the model predicts, and leave the file system
// sound. A failure after a crash is then not caused by a wrong model of the file system.
func TestGuestComponents(t *testing.T) {
	r := newExplorerRig(t, 320)
	release := r.Hello().Release
	tested := 0
	for _, k := range fileSystems(t) {
		if !k.In(release) || k.Flat {
			continue
		}
		tested++
		t.Run(k.Name, func(t *testing.T) {
			if err := r.component(k); err != nil {
				t.Error(err)
			}
		})
	}
	t.Logf("%d file systems of Linux %s", tested, release)
}

// component makes a file system, runs random steps on it, and compares the tree before and after an
// unmount.
func (r *explorerRig) component(k *component.Kind) error {
	m := machine.New(r.Guest)
	if err := m.MakeDisk(r.ctx, 0, k.Bytes); err != nil {
		return err
	}
	defer func() { _ = m.RemoveDisk(r.ctx, 0) }() // it may still be mounted if the test has failed
	e := explore.NewEnv(r.ctx, m, new(explore.Chooser))
	c, err := k.New("/mnt/component", component.Options{}, explore.RAMDisk(0, k.Bytes))
	if err != nil {
		return err
	}
	for _, f := range []func(*explore.Env) error{c.Init, c.Mount} {
		if err := f(e); err != nil {
			return err
		}
	}
	core := &checkers.Core{At: c.Path(), Promises: c.Promises,
		Limits: checkers.Limits{Files: 4, Dirs: 3,
			Groups: []checkers.Group{"attributes", "append", "again"}}}
	if err := core.Init(e); err != nil {
		return err
	}
	err = steps(e, core, rand.New(rand.NewPCG(1, 1)))
	if unmountErr := c.Unmount(e); err == nil {
		err = unmountErr
	}
	if err != nil {
		return err
	}
	core.Synced()
	for _, f := range []func(*explore.Env) error{c.Verify, c.Recover, c.Mount, core.Same, c.Unmount} {
		if err := f(e); err != nil {
			return fmt.Errorf("after unmounting: %w", err)
		}
	}
	return nil
}

// steps runs random steps, and compares the whole tree with the model at intervals.
func steps(e *explore.Env, core *checkers.Core, random *rand.Rand) error {
	for i := range 60 {
		list, _ := core.Steps()
		ops := list[random.IntN(len(list))]
		if err := core.Step(e, ops); err != nil {
			return fmt.Errorf("step %d: %w", i, err)
		}
		if i%10 == 9 {
			if err := core.Same(e); err != nil {
				return fmt.Errorf("after step %d, %v: %w", i, ops, err)
			}
		}
	}
	return nil
}
