//go:build vmtest

package host

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"fsward/explore"
	"fsward/explore/agent"
	"fsward/explore/component"
	"fsward/explore/crash"
	"fsward/explore/machine"
)

// namedFile is a checker: every name in a directory has a file after a crash, although nothing was
// synced. ext2 does not promise that.
type namedFile struct {
	explore.Plain
	at string
}

func (c namedFile) Mutate(e *explore.Env) error {
	if _, err := e.Do(agent.Open(0, c.at+"/file", unix.O_CREAT|unix.O_WRONLY, 0o644),
		agent.Fill(0, 0, 1000, 1)); err != nil {
		return err
	}
	return e.CheckCrashesNow(nil)
}

func (c namedFile) Check(e *explore.Env, _ explore.Crash) error {
	r, err := e.Do(agent.Readdir(c.at))
	if err != nil {
		return err
	}
	if !slices.Contains(strings.Split(string(r[0].Data), "\x00"), "file") {
		return nil
	}
	if _, err := e.Do(agent.Stat(c.at + "/file")); err != nil {
		return explore.Failuref("name without file", "%v", err)
	}
	return nil
}

// exploreFrom explores a file system with crash states from a source.
func exploreFrom(ctx context.Context, t *testing.T, m *machine.Machine, stack explore.Stack,
	from explore.CrashSource, limit int) (explore.Config, explore.Summary, error) {
	t.Helper()
	cfg := explore.Config{System: m, Dir: t.TempDir(), Stack: stack, Strategy: explore.BreadthFirst,
		Depth: 1, CrashFrom: from, Crash: crash.Options{Limit: limit}}
	sum, err := explore.Run(ctx, cfg)
	t.Logf("%s, %s: %+v", stack.Top.Path(), from, sum)
	return cfg, sum, err
}

// unrecovered returns a file system whose disk is not repaired before it is mounted after a crash,
// since e2fsck would remove a name without a file.
func unrecovered(fs, at string) (*component.Component, error) {
	k, err := component.Load(fs)
	if err != nil {
		return nil, err
	}
	k.Recover = ""
	return k.New(at, component.Options{}, explore.RAMDisk(0, k.Bytes))
}

// TestGuestExploreWriteSet checks crash states from the write set. ext2 writes its blocks in any
// order, so that a name can be on the disk before its inode. No bio shows that, since the kernel
// writes neither block so soon. The write set shows it, and the folder of the error replays it.
// ext3, which has a journal, loses no synced file.
func TestGuestExploreWriteSet(t *testing.T) {
	inGuest(t, 10*time.Minute, func(ctx context.Context, m *machine.Machine) error {
		ext2, err := unrecovered("ext2", "/mnt/ext2")
		if err != nil {
			return err
		}
		stack := explore.Stack{Top: ext2, Checker: namedFile{at: ext2.Path()}}
		_, sum, err := exploreFrom(ctx, t, m, stack, explore.FromWrites, 32)
		if err != nil {
			return err
		}
		if !sum.Complete || len(sum.Errors) != 0 || sum.Early != 0 {
			t.Errorf("ext2, from the writes: %+v", sum)
		}
		cfg, sum, err := exploreFrom(ctx, t, m, stack, explore.FromWriteSet, 32)
		if err != nil {
			return err
		}
		if !sum.Complete || len(sum.Errors) != 1 || sum.Errors[0].Kind != "name without file" ||
			sum.Early == 0 {
			t.Fatalf("ext2, from the write set: %+v", sum)
		}
		e, err := explore.ReadError(filepath.Join(cfg.Dir, sum.Errors[0].Dir))
		if err != nil {
			return err
		}
		t.Logf("%+v", *e.Crash)
		for range 2 {
			if found, err := explore.Replay(ctx, cfg, e); err != nil || found == nil ||
				found.Kind != e.Kind {
				t.Errorf("replayed: %v, %v", found, err)
			}
		}

		ext3, err := unrecovered("ext3", "/mnt/ext3")
		if err != nil {
			return err
		}
		stack = explore.Stack{Top: ext3, Checker: syncedFile{at: ext3.Path()}}
		if _, sum, err = exploreFrom(ctx, t, m, stack, explore.FromWriteSet, 6); err != nil {
			return err
		}
		if !sum.Complete || len(sum.Errors) != 0 || sum.Diverged != 0 || sum.Early == 0 {
			t.Errorf("ext3, from the write set: %+v", sum)
		}
		return nil
	})
}
