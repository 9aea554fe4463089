//go:build vmtest

package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"fsward/explore"
	"fsward/explore/agent"
	"fsward/explore/component"
	"fsward/explore/guest"
	"fsward/explore/machine"
	"fsward/explore/ramdisk"
	"fsward/explore/spec"
	"fsward/explore/usermode"
	"fsward/hostd/guardtest"
	"fsward/repair/sandbox"
)

func TestMain(m *testing.M) {
	if sandbox.Inside() {
		sandbox.Main()
		return
	}
	os.Exit(m.Run())
}

// A twin recovers each crash state in user-mode Linux and in the guest, and compares what both
// answer.
type twin struct {
	*usermode.Machine
	guest    *machine.Machine
	t        *testing.T
	compared int // operations
}

// Restore and WritePages change the disks of both.
func (w *twin) Restore(ctx context.Context, disk uint32, name string) error {
	return errors.Join(w.Machine.Restore(ctx, disk, name), w.guest.Restore(ctx, disk, name))
}

func (w *twin) WritePages(ctx context.Context, disk uint32, pages []agent.Page) error {
	return errors.Join(w.Machine.WritePages(ctx, disk, pages), w.guest.WritePages(ctx, disk, pages))
}

// Snapshot is only for the new disk: that of the guest has its snapshots. It makes the mount point,
// which the guest has, too.
func (w *twin) Snapshot(ctx context.Context, disk uint32, name string) error {
	return errors.Join(w.Machine.Snapshot(ctx, disk, name), makeMountPoint(ctx, w.Machine))
}

// makeMountPoint makes the folder at which a stack of one file system is mounted.
func makeMountPoint(ctx context.Context, s explore.System) error {
	ops := []agent.Op{agent.Mkdir(spec.At, 0o755)}
	done, err := s.Do(ctx, agent.Batch{Ops: ops, Timeout: time.Minute})
	return errors.Join(err, agent.CheckResults(ops, done.Results, time.Minute))
}

// Do compares the error numbers and the trees.
func (w *twin) Do(ctx context.Context, b agent.Batch) (agent.Done, error) {
	want, err := w.guest.Do(ctx, b)
	if err != nil {
		return want, err
	}
	got, err := w.Machine.Do(ctx, b)
	if err == nil && len(got.Results) != len(want.Results) {
		w.t.Errorf("%v: %d results, and %d in the guest", b.Ops, len(got.Results), len(want.Results))
		return got, err
	}
	for i, r := range got.Results {
		w.compared++
		if is, was := result(b.Ops[i], r), result(b.Ops[i], want.Results[i]); is != was {
			w.t.Errorf("%v: %s\nin the guest: %s", b.Ops[i], is, was)
		}
	}
	return got, err
}

// Run compares how a command ends. Its output may have times.
func (w *twin) Run(ctx context.Context, c agent.Command) (agent.Exit, error) {
	want, err := w.guest.Run(ctx, c)
	if err != nil {
		return want, err
	}
	got, err := w.Machine.Run(ctx, c)
	w.compared++
	if err == nil && got.Code != want.Code {
		w.t.Errorf("%q: %d, %s%s\nin the guest: %d, %s%s", c.Args, got.Code, got.Stdout, got.Stderr,
			want.Code, want.Stdout, want.Stderr)
	}
	return got, err
}

// result describes the result of an operation. Inodes count from 0: the driver of vfat numbers them
// as it sees them.
func result(op agent.Op, r agent.Result) string {
	if op.Code != agent.Tree("").Code {
		return fmt.Sprintf("%v %d %x", r.Errno, r.Value, r.Data)
	}
	tree, err := agent.DecodeTree(r.Data)
	numbers := make(map[uint64]uint64)
	for i := range tree {
		inode := &tree[i].Inode
		if _, seen := numbers[*inode]; !seen {
			numbers[*inode] = uint64(len(numbers))
		}
		*inode = numbers[*inode]
	}
	return fmt.Sprintf("%v %d %+v %v", r.Errno, r.Value, tree, err)
}

// A comparison is a run whose crash states are recovered in the guest and in user-mode Linux.
type comparison struct {
	fs, options string
	runs        uint64 // steps; 0: all
	bug         bool   // the run finds errors
}

// TestGuestUserMode recovers the same crash states in user-mode Linux and in the guest, which must
// answer the same: of sound file systems, and of those that do not flush, whose bugs are found. A
// few steps of the other file systems of the guest's kernel follow.
func TestGuestUserMode(t *testing.T) {
	inGuest(t, 20*time.Minute, func(ctx context.Context, m *machine.Machine) error {
		list := []comparison{{"ext3", "", 0, false}, {"ext3", "nobarrier", 0, true},
			{"btrfs", "", 0, false}, {"btrfs", "nobarrier", 0, true}}
		for _, fs := range []string{"ext4", "xfs", "vfat", "msdos", "udf", "f2fs", "jfs", "nilfs2",
			"reiserfs", "hfs", "minix", "gfs2", "ocfs2"} {
			list = append(list, comparison{fs: fs, runs: 4})
		}
		for _, c := range list {
			if kind, err := component.Load(c.fs); err != nil {
				return err
			} else if !kind.In(m.Hello().Release) {
				continue
			}
			if err := c.compare(ctx, t, m); err != nil {
				return fmt.Errorf("%s: %w", c.fs, err)
			}
		}
		return nil
	})
}

// userModeGuest describes user-mode Linux that only recovers crash states of disks with a size in
// bytes.
func userModeGuest(t testing.TB, bytes uint64) UserModeConfig {
	t.Helper()
	return UserModeConfig{GuestConfig: GuestConfig{Dir: guardtest.GuestDir(t)}, DiskBytes: bytes}
}

// inUserMode returns the configuration of a run that recovers in user-mode Linux, and the size of
// each disk, in bytes.
func inUserMode(run *spec.Run) (cfg explore.Config, bytes uint64, err error) {
	if cfg, err = run.Config(); err != nil {
		return cfg, 0, err
	}
	n, err := run.UserMode()
	if err == nil {
		err = CheckUserMode(n.Types, n.Modules)
	}
	return cfg, n.Bytes, err
}

// compare makes the run.
func (c comparison) compare(ctx context.Context, t *testing.T, m *machine.Machine) error {
	s, err := spec.FileSystem(c.fs, c.options, "", "sync", "")
	if err != nil {
		return err
	}
	run := spec.Run{Spec: s, Strategy: explore.BreadthFirst, Depth: 1, Limit: 6, Seed: 1, Files: 1,
		Dirs: 1, NoJudge: true, NoAccount: true, RecoverIn: spec.InUserMode}
	cfg, bytes, err := inUserMode(&run)
	if err != nil {
		return err
	}
	return WithUserMode(ctx, userModeGuest(t, bytes),
		func(u *usermode.Machine) error {
			w := &twin{Machine: u, guest: m, t: t}
			cfg.System, cfg.Recovery, cfg.Dir, cfg.Runs = m, w, t.TempDir(), c.runs
			sum, err := explore.Run(ctx, cfg)
			t.Logf("%s %s: %d operations compared, %d crash states, %d recovered, %d errors", c.fs,
				c.options, w.compared, sum.CrashStates, sum.Recovered, len(sum.Errors))
			if w.compared == 0 || c.runs == 0 && (len(sum.Errors) > 0) != c.bug {
				t.Errorf("%s %s: %+v", c.fs, c.options, sum)
			}
			return err
		})
}

// TestGuestUserModeFails checks that a panic and a hang of user-mode Linux are failures like those
// of a guest, that it can be used again after them, and that it leaves no process.
func TestGuestUserModeFails(t *testing.T) {
	ctx := t.Context()
	err := WithUserMode(ctx, userModeGuest(t, 1<<20),
		func(m *usermode.Machine) error {
			err := m.MakeDisk(ctx, 0, 16*ramdisk.PageSize)
			if err = errors.Join(err, m.Snapshot(ctx, 0, "zeros")); err != nil {
				return err
			}
			_, err = m.Run(ctx, agent.Command{Timeout: time.Minute,
				Args: []string{"sh", "-c", "echo written >/dev/fswrd0; sync; echo c >/proc/sysrq-trigger"}})
			var f *guest.Failure
			if !errors.As(err, &f) || f.Kind != guest.Panicked {
				t.Errorf("a panic: %v", err)
			}
			if _, again := m.Do(ctx, agent.Batch{Timeout: time.Minute}); !errors.Is(again, err) {
				t.Errorf("after a panic: %v", again)
			}
			err = errors.Join(m.Load(ctx, nil), m.Restore(ctx, 0, "zeros"))
			if err != nil {
				return err
			}
			e, err := m.Run(ctx, agent.Command{Timeout: time.Minute,
				Args: []string{"cat", "/dev/fswrd0"}})
			if err != nil || slices.ContainsFunc(e.Stdout, func(b byte) bool { return b != 0 }) {
				t.Errorf("after a restore: %d bytes, %q, %v", len(e.Stdout), e.Stderr, err)
			}
			_, err = m.Do(ctx, agent.Batch{Timeout: time.Second, Ops: []agent.Op{
				agent.Mknod("/fifo", unix.S_IFIFO|0o600, 0), agent.Open(0, "/fifo", unix.O_RDONLY, 0)}})
			if !errors.As(err, &f) || f.Kind != guest.Hung {
				t.Errorf("a hang: %v", err)
			}
			return nil
		})
	if err != nil {
		t.Error(err)
	}
	if left := children(t); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// children returns the processes that this one has started and that are left.
func children(t *testing.T) (out []string) {
	t.Helper()
	list, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", os.Getpid()))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range list {
		if text, err := os.ReadFile(name); err == nil {
			out = append(out, strings.Fields(string(text))...)
		}
	}
	return out
}
