//go:build vmtest

package hostd

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest"

	"fsward/explore"
	"fsward/explore/agent"
	"fsward/explore/checkers"
	"fsward/explore/component"
	"fsward/explore/crash"
	"fsward/explore/guest"
	"fsward/explore/ramdisk"
)

// Each file system of the guest, as a component: what the checkers do to it gives what it should, and leaves it sound. What a checker
// reports of a crash is then not a misunderstanding of what the file system is.
func TestGuestComponents(t *testing.T) {
	r := newExplorerRig(t, 320)
	release := r.Hello().Release
	ran := 0
	for _, k := range fileSystems(t) {
		if !k.In(release) || k.Flat {
			continue
		}
		ran++
		t.Run(k.Name, func(t *testing.T) {
			if err := r.component(k); err != nil {
				t.Error(err)
			}
		})
	}
	t.Logf("%d file systems of Linux %s", ran, release)
}

// lying is a guest in which some operations say that they succeeded, and were not done.
type lying struct {
	*explore.Machine
	about agent.Code
}

func (l lying) Do(ctx context.Context, b agent.Batch) (agent.Done, error) {
	b.Ops = slices.Clone(b.Ops)
	for i, o := range b.Ops {
		if o.Code == l.about {
			b.Ops[i] = agent.DiskClear(0) // which does nothing
		}
	}
	return l.Machine.Do(ctx, b)
}

// broken is a file system on a disk that goes wrong by a rule.
type broken struct {
	*component.Component
	rule ramdisk.Rule
}

func (b broken) Mount(e *explore.Env) error {
	if _, err := e.Do(agent.DiskClear(0), agent.DiskInject(0, b.rule)); err != nil {
		return err
	}
	return b.Component.Mount(e)
}

// Bugs that are planted above and below ext3 in a guest are found by the checker sync, and without them nothing is.
func TestGuestPlanted(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Minute)
	defer cancel()
	log := zaptest.NewLogger(t, zaptest.WrapOptions(zap.AddStacktrace(zap.PanicLevel)))
	dir := cmp.Or(os.Getenv("FSWARD_GUEST"), "../build/guest")
	if _, err := guest.Build(ctx, "..", dir); err != nil {
		t.Fatal(err)
	}
	every := func(a ramdisk.Action) ramdisk.Rule { return ramdisk.Rule{Action: a, Nth: 1, Times: 1 << 40} }
	err := WithMachine(ctx, ExploreGuest{Dir: dir}, log, func(m *explore.Machine) error {
		for _, c := range []struct {
			bug   string
			about agent.Code   // what the guest lies about
			rule  ramdisk.Rule // of its disk
			mount string
		}{
			{bug: "dropped flushes", rule: every(ramdisk.DropFlush)},
			{bug: "no barriers", mount: "nobarrier"},
			{bug: "sync does nothing", about: agent.Sync().Code},
			{bug: "syncfs does nothing", about: agent.Syncfs(0).Code},
			{bug: "fsync does nothing", about: agent.Fsync(0).Code},
			{bug: ""},
		} {
			k, err := component.Load("ext3")
			if err != nil {
				return err
			}
			storage, err := k.New("/mnt/planted", component.Options{Mount: c.mount}, explore.RAMDisk(0, k.Bytes))
			if err != nil {
				return err
			}
			checker, err := checkers.New("sync", storage, storage.Promises, checkers.Limits{})
			if err != nil {
				return err
			}
			once, stop := context.WithCancel(ctx)
			cfg := explore.Config{System: explore.System(m), Dir: t.TempDir(), Stack: explore.Stack{Top: storage, Checker: checker},
				Strategy: explore.BreadthFirst, Depth: 1, Crash: crash.Options{Limit: 6}, OnEvent: func(e explore.Event) {
					if e.Event == "error" {
						stop()
					}
				}}
			if c.about != 0 {
				cfg.System = lying{m, c.about}
			}
			if c.rule.Action != 0 {
				cfg.Stack.Top = broken{storage, c.rule}
			}
			sum, err := explore.Run(once, cfg)
			stop()
			if err != nil {
				return fmt.Errorf("%s: %w", c.bug, err)
			}
			if (len(sum.Errors) > 0) != (c.bug != "") || c.bug == "" && !sum.Complete {
				t.Errorf("%q: complete %t, errors %+v", c.bug, sum.Complete, sum.Errors)
			}
			for _, e := range sum.Errors {
				t.Logf("%s: after %.1f s, %d runs, %d crash states: %s: %s", c.bug, sum.Seconds, sum.Runs, sum.CrashStates, e.Kind, e.Summary)
			}
			t.Logf("%q: %+v", c.bug, sum.Totals)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// component makes a file system and does random steps to it.
func (r *explorerRig) component(k *component.Kind) error {
	m := explore.NewMachine(r.Guest)
	if err := m.MakeDisk(r.ctx, 0, k.Bytes); err != nil {
		return err
	}
	defer func() { _ = m.RemoveDisk(r.ctx, 0) }() // it may still be mounted where the test has failed
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
	core := &checkers.Core{At: c.Path(), Promises: c.Promises, Limits: checkers.Limits{Files: 4, Dirs: 3}}
	if err := core.Init(e); err != nil {
		return err
	}
	err = steps(e, core, rand.New(rand.NewPCG(1, 1)))
	if un := c.Unmount(e); err == nil {
		err = un
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

// steps does random steps, and compares all that is there now and then.
func steps(e *explore.Env, core *checkers.Core, random *rand.Rand) error {
	for i := range 60 {
		list := core.Steps()
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
