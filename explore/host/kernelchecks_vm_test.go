//go:build vmtest

package host

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fsward/explore"
	"fsward/explore/agent"
	"fsward/explore/machine"
	"fsward/explore/spec"
)

// A kernelBug is a bug that the module fsw_bugtest plants, with what finds it.
type kernelBug struct {
	module string // its arguments; "": it is not loaded
	checks string // --kernel-checks
	found  string // the beginning of the kind of the error; "": there is none
}

// metadata is a checker that changes the metadata of a file system, and tries no crashes. The
// second step revokes a block, which changes the superblock of the journal before it is written.
const metadata = `mutate:
- touch $AT/a; ln $AT/a $AT/b; mkdir $AT/d; chmod 700 $AT/d; mv $AT/b $AT/d/c; rm $AT/a; sync
- mkdir $AT/e; rmdir $AT/e
check: "true"
`

// find runs one step on ext3 with the bug.
func (b kernelBug) find(ctx context.Context, t *testing.T, m *machine.Machine) error {
	dir := t.TempDir()
	fs, checker := filepath.Join(dir, "fs.yaml"), filepath.Join(dir, "checker.yaml")
	for name, text := range map[string]string{fs: smallExt3, checker: metadata} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			return err
		}
	}
	r := spec.Run{Strategy: explore.BreadthFirst, Depth: 1, KernelChecks: b.checks}
	var err error
	if r.Spec, err = spec.FileSystem(fs, "", "", checker, ""); err != nil {
		return err
	}
	cfg, err := r.Config()
	if err != nil {
		return err
	}
	if b.module != "" {
		args := append([]string{"insmod", "/fsward/fsw_bugtest.ko"}, strings.Fields(b.module)...)
		exit, err := m.Run(ctx, agent.Command{Args: args, Timeout: time.Minute})
		if err != nil || exit.Code != 0 {
			return fmt.Errorf("%v: %s, %w", args, exit.Stderr, err)
		}
	}
	cfg.System, cfg.Dir = m, t.TempDir()
	sum, err := explore.Run(ctx, cfg)
	if err != nil {
		return err
	}
	var kinds []string
	for _, e := range sum.Errors {
		t.Logf("%q: %s: %s; shown in %d of %d replays", b.module, e.Kind, e.Summary, e.Shown,
			e.Replays)
		kinds = append(kinds, e.Kind)
	}
	switch {
	case b.found == "" && (len(kinds) > 0 || sum.Runs == 0):
		t.Errorf("%q: found %q in %d executions", b.module, kinds, sum.Runs)
	case b.found != "" && (len(kinds) == 0 || !strings.HasPrefix(kinds[0], b.found)):
		t.Errorf("%q: found %q, want %q", b.module, kinds, b.found)
	}
	return nil
}

// findAll explores with each bug, in a guest that had no other.
func findAll(ctx context.Context, t *testing.T, m *machine.Machine, bugs []kernelBug) error {
	clean, err := m.Save(ctx)
	if err != nil {
		return err
	}
	for _, b := range bugs {
		if err := m.Load(ctx, clean); err != nil {
			return err
		}
		if err := b.find(ctx, t, m); err != nil {
			t.Errorf("%q: %v", b.module, err)
		}
	}
	return m.Forget(ctx, clean)
}

// TestGuestKernelChecks checks that the module fsw_ekm finds a bug of each kind in a stock kernel,
// and none without a bug.
func TestGuestKernelChecks(t *testing.T) {
	bugs := []kernelBug{
		{"", "all", ""},
		{"symbol=chmod_common kind=inversion", "locks", "kernel: circular wait"},
		{"symbol=chmod_common kind=held", "locks", "kernel: lock kept"},
		{"symbol=chmod_common kind=pair", "pairs", "kernel: unpaired call"},
		{"symbol=__ext4_handle_dirty_metadata kind=skip", "buffers",
			"kernel: buffer not dirtied"},
	}
	inGuest(t, 15*time.Minute, func(ctx context.Context, m *machine.Machine) error {
		return findAll(ctx, t, m, bugs)
	})
}
