//go:build vmtest

package host

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fsward/explore"
	"fsward/explore/machine"
	"fsward/explore/spec"
)

// emptying is ext3 that is made with one of two sizes of blocks, and recovered in one of three
// ways. The third makes it empty.
const emptying = `init: mke2fs -q -F -t ext3 -E lazy_itable_init=0 -b $((1024 << $N)) $DEVICE
type: ext3
recover: |
  case $N in
  0) e2fsck -fp $DEVICE;;
  1) e2fsck -fy $DEVICE;;
  2) mke2fs -q -F -t ext3 $DEVICE;;
  esac
recovered: [0, 1]
choices: {init: 2, recover: 3}
bytes: 16777216
`

// choosing writes a file with what the kernel chose among three values.
const choosing = `mutate:
- {must: true, run: grep -q '^fsw_ekm ' /proc/modules || insmod /fsward/fsw_ekm.ko}
- {must: true, run: insmod /fsward/fsw_choosetest.ko bound=3}
- cp /sys/module/fsw_choosetest/parameters/in_thread $AT/f
- {must: true, run: rmmod fsw_choosetest}
- sync
- crash: now
check: |
  [ -e $AT/f ] || { echo file gone; exit 1; }
  [ "$(cat $AT/f)" != 2 ] || { echo value two; exit 1; }
`

// findChoice checks that failures behind one choice of a recovery and one choice of the kernel are
// found, and that a replay shows the latter.
func findChoice(ctx context.Context, t *testing.T, m *machine.Machine) error {
	dir := t.TempDir()
	fs, checker := filepath.Join(dir, "emptying.yaml"), filepath.Join(dir, "choosing.yaml")
	for name, text := range map[string]string{fs: emptying, checker: choosing} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			return err
		}
	}
	for _, tc := range [][2]string{{"file gone", fs}, {"value two", "ext2"}} {
		kind, fs := tc[0], tc[1]
		cfg, sum, err := runStack(ctx, t, m, fs, checker, spec.Run{Strategy: explore.BreadthFirst,
			Depth: 1, Limit: 2, KernelChoices: kind == "value two"})
		if err != nil {
			return err
		}
		found := withoutSurprises(sum.Errors)
		if len(found) != 1 || found[0].Kind != kind || !sum.Complete || sum.Diverged != 0 {
			t.Errorf("want %q: %+v", kind, sum)
			continue
		}
		e := found[0]
		if e.Crash == nil || kind == "file gone" && explore.Values(e.Crash.Choices)[0] != 2 {
			t.Errorf("the recovery chose %+v", e.Crash)
		}
		again, err := explore.Replay(ctx, cfg, e)
		if err != nil {
			return err
		}
		if again == nil || !strings.HasPrefix(again.Kind, kind) {
			t.Errorf("the replay of %q shows %v", kind, again)
		}
		t.Logf("%s: %d states, %d recoveries, %.1f s", kind, sum.States, sum.Recovered, sum.Seconds)
	}
	return nil
}

// runStack explores the stack of a file system and a checker.
func runStack(ctx context.Context, t *testing.T, m *machine.Machine, fs, checker string,
	r spec.Run) (cfg explore.Config, sum explore.Summary, err error) {
	if r.Spec, err = spec.FileSystem(fs, "", "", checker, ""); err != nil {
		return cfg, sum, err
	}
	if cfg, err = r.Config(); err != nil {
		return cfg, sum, err
	}
	cfg.System, cfg.Dir = m, t.TempDir()
	sum, err = explore.Run(ctx, cfg)
	return cfg, sum, err
}

// withoutSurprises returns the errors that break a promise. ext2 also has surprises: e2fsck repairs
// it after each crash.
func withoutSurprises(all []explore.Error) []explore.Error {
	return slices.DeleteFunc(slices.Clone(all), func(e explore.Error) bool { return e.Surprise })
}
