//go:build vmtest

package host

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"fsward/explore"
	"fsward/explore/agent"
	"fsward/explore/component"
	"fsward/explore/crash"
	"fsward/explore/machine"
	"fsward/explore/ramdisk"
)

// syncedFile is a checker: a file that was synced exists after a crash. It is a smaller version of
// figure 2 of EXPLODE.
type syncedFile struct {
	explore.Plain
	at string
}

func (c syncedFile) Mutate(e *explore.Env) error {
	switch e.Choose(3) {
	case 0:
		_ = e.Sh("mkdir %s/dir%d", c.at, e.Choose(2))
	case 1:
		_ = e.Sh("rm %s/file", c.at)
	case 2:
		_ = e.Sh("echo test > %s/file", c.at)
		if e.Choose(2) == 0 {
			_ = e.Sync()
		} else {
			_ = e.Fsync(c.at + "/file")
			_ = e.Fsync(c.at)
		}
		return e.CheckCrashesNow(nil)
	}
	return nil
}

func (c syncedFile) Check(e *explore.Env, _ explore.Crash) error {
	data, err := e.ReadFile(c.at + "/file")
	if err != nil {
		return explore.Failuref("file gone", "%v", err)
	}
	if string(data) != "test\n" {
		return explore.Failuref("wrong contents", "%q", data)
	}
	return nil
}

// forgetful is a file system on a disk that drops every flush.
type forgetful struct{ *component.Component }

func (f forgetful) Mount(e *explore.Env) error {
	rule := ramdisk.Rule{Action: ramdisk.DropFlush, Nth: 1, Times: 1 << 40}
	if _, err := e.Do(agent.DiskClear(0), agent.DiskInject(0, rule)); err != nil {
		return err
	}
	return f.Component.Mount(e)
}

// hasty is a file system on a disk that drops only the flushes of the recovery.
type hasty struct{ *component.Component }

func (h hasty) Recover(e *explore.Env) error {
	rule := ramdisk.Rule{Action: ramdisk.DropFlush, Nth: 1, Times: 1 << 40}
	if _, err := e.Do(agent.DiskClear(0), agent.DiskInject(0, rule)); err != nil {
		return err
	}
	return h.Component.Recover(e)
}

func (h hasty) Unmount(e *explore.Env) error {
	if err := h.Component.Unmount(e); err != nil {
		return err
	}
	_, err := e.Do(agent.DiskClear(0))
	return err
}

// exploreStack returns a file system on a RAM disk, and the stack of it with the checker
// syncedFile.
func exploreStack(t *testing.T, fs string) (*component.Component, explore.Stack) {
	t.Helper()
	k, err := component.Load(fs)
	if err != nil {
		t.Fatal(err)
	}
	c, err := k.New("/mnt/a", component.Options{}, explore.RAMDisk(0, k.Bytes))
	if err != nil {
		t.Fatal(err)
	}
	return c, explore.Stack{Top: c, Checker: syncedFile{at: "/mnt/a"}}
}

// TestGuestExplore checks that ext3 keeps synced files, that an ext3 on a disk that drops
// flushes does not, and that its folder replays the error.
func TestGuestExplore(t *testing.T) {
	inGuest(t, 20*time.Minute, func(ctx context.Context, m *machine.Machine) error {
		c, stack := exploreStack(t, "ext3")
		began := time.Now()
		cfg := explore.Config{System: m, Dir: t.TempDir(), Stack: stack, Strategy: explore.BreadthFirst,
			Depth: 1, Crash: crash.Options{Limit: 6}}
		cfg.OnEvent = func(e explore.Event) {
			t.Logf("%.0f s: %s, depth %d, %+v %+v %s", time.Since(began).Seconds(), e.Event, e.Depth,
				e.Totals, e.Error, e.Text)
		}
		sum, err := explore.Run(ctx, cfg)
		if err != nil {
			return err
		}
		t.Logf("ext3: %+v", sum.Totals)
		if !sum.Complete || len(sum.Errors) != 0 || sum.Diverged != 0 || sum.Recovered == 0 {
			t.Errorf("ext3: %+v", sum)
		}

		cfg.Dir, cfg.Stack.Top = t.TempDir(), forgetful{c}
		cfg.Depth = 1
		if sum, err = explore.Run(ctx, cfg); err != nil {
			return err
		}
		t.Logf("without flushes: %+v", sum)
		if len(sum.Errors) == 0 {
			t.Fatal("ext3 on a disk that drops flushes: no error was found")
		}
		e, err := explore.ReadError(filepath.Join(cfg.Dir, sum.Errors[0].Dir))
		if err != nil {
			return err
		}
		for range 3 {
			found, err := explore.Replay(ctx, cfg, e)
			if err != nil {
				return err
			}
			if found == nil || found.Kind != e.Kind {
				t.Errorf("replayed: %v, want %s", found, e.Kind)
			}
		}

		return recoveryFlushes(ctx, t, cfg, c)
	})
}

// recoveryFlushes checks that the dropped flushes of a recovery are found if and only if the
// explorer crashes during the recovery.
func recoveryFlushes(ctx context.Context, t *testing.T, cfg explore.Config,
	c *component.Component) error {
	t.Helper()
	for _, crashes := range []bool{false, true} {
		cfg.Dir, cfg.Stack.Top, cfg.RecoveryCrashes, cfg.Verify = t.TempDir(), hasty{c}, crashes, true
		sum, err := explore.Run(ctx, cfg)
		if err != nil {
			return err
		}
		t.Logf("without the flushes of recovery, crashes during recovery %v: %+v", crashes, sum)
		if found := len(sum.Errors) > 0; found != crashes {
			t.Errorf("without the flushes of recovery, crashes during recovery %v: found %+v", crashes,
				sum.Errors)
		}
		if crashes && len(sum.Errors) > 0 && sum.Errors[0].Crash.Second == nil {
			t.Errorf("found without a second crash: %+v", sum.Errors[0])
		}
	}
	return nil
}
