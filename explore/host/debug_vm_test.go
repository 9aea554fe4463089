//go:build vmtest

package host

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap/zaptest"

	"fsward/explore"
	"fsward/explore/guest"
	"fsward/explore/machine"
	"fsward/explore/spec"
	"fsward/hostd/guardtest"
)

// inDebugGuest runs do in the guest of make guest-debug. It skips the test without that guest.
func inDebugGuest(t *testing.T, limit time.Duration,
	do func(ctx context.Context, m *machine.Machine, code explore.CodeMap) error) {
	t.Helper()
	dir := cmp.Or(os.Getenv("FSWARD_DEBUG_GUEST"),
		filepath.Join(guardtest.Project(t), "build", "guest-debug"))
	code, err := CodeMap(dir)
	if err != nil {
		t.Fatal(err)
	}
	if code == nil {
		t.Skipf("%s has no debug guest: make guest-debug builds it", dir)
	}
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	if _, err := guest.Build(ctx, guardtest.Project(t), dir); err != nil {
		t.Fatal(err)
	}
	cfg := GuestConfig{Dir: dir, MemoryMiB: debugMemory}
	if err := WithMachine(ctx, cfg, zaptest.NewLogger(t), func(m *machine.Machine) error {
		return do(ctx, m, code)
	}); err != nil {
		t.Fatal(err)
	}
}

// debugMemory is the memory of the debug guest in MiB: KASAN and lockdep take some for themselves.
const debugMemory = 640

// TestGuestDebugKernel checks that each of the debug kernel's own checks finds a bug, and none
// without a bug.
func TestGuestDebugKernel(t *testing.T) {
	bugs := []kernelBug{
		{"", "", ""},
		{"kind=bounds", "", "kernel: BUG: KASAN: slab-out-of-bounds in read_behind"},
		{"kind=freed", "", "kernel: BUG: KASAN: use-after-free in read_freed"},
		{"kind=inversion", "", "kernel: WARNING: possible circular locking dependency"},
		{"kind=list", "", "kernel: lib/list_debug.c"},
		{"kind=lost", "memory", "kernel: memory lost"},
	}
	inDebugGuest(t, 30*time.Minute,
		func(ctx context.Context, m *machine.Machine, _ explore.CodeMap) error {
			return findAll(ctx, t, m, bugs)
		})
}

// TestGuestCoverage checks that a run in the debug guest reaches code of its file system, and of no
// other one.
func TestGuestCoverage(t *testing.T) {
	inDebugGuest(t, 20*time.Minute,
		func(ctx context.Context, m *machine.Machine, code explore.CodeMap) error {
			r := spec.Run{Strategy: explore.LeastSeen, Depth: 1, Limit: 1, NoCommits: true,
				Files: 1, Dirs: 1}
			var err error
			if r.Spec, err = spec.FileSystem("ext3", "", "", "sync", ""); err != nil {
				return err
			}
			cfg, err := r.Config()
			if err != nil {
				return err
			}
			cfg.System, cfg.Dir, cfg.Code, cfg.Runs = m, t.TempDir(), code, 4
			sum, err := explore.Run(ctx, cfg)
			if err != nil {
				return err
			}
			if sum.Coverage == nil || sum.Edges < 500 || sum.EdgesCut > 0 {
				t.Fatalf("%d edges, %d executions with missing ones", sum.Edges, sum.EdgesCut)
			}
			if len(sum.Errors) > 0 || sum.Recovered == 0 {
				t.Errorf("%d recoveries, and errors without a bug: %+v", sum.Recovered, sum.Errors)
			}
			reached := make(map[string]uint64)
			for _, f := range sum.Coverage.Files {
				reached[f.Path] = f.Reached
				if f.Reached > f.Points || !strings.HasPrefix(f.Path, "fs/ext4/") &&
					!strings.HasPrefix(f.Path, "fs/jbd2/") {
					t.Errorf("reached %+v", f)
				}
			}
			t.Logf("%d edges in %d runs; %v", sum.Edges, sum.Runs, reached)
			if reached["fs/ext4/namei.c"] == 0 {
				t.Error("no point of fs/ext4/namei.c was reached")
			}
			return nil
		})
}
