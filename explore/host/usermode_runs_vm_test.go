//go:build vmtest

package host

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"fsward/blocktap"
	"fsward/explore"
	"fsward/explore/audit"
	"fsward/explore/audit/recheck"
	"fsward/explore/machine"
	"fsward/explore/spec"
	"fsward/explore/usermode"
	"fsward/hostd/guardtest"
)

// TestGuestUserModeWorkloads tests workloads on an ext3 that does not flush, whose crash states
// user-mode Linux recovers. The run is resumed for the second workload, and its error is replayed,
// each in another user-mode Linux.
func TestGuestUserModeWorkloads(t *testing.T) {
	inGuest(t, 10*time.Minute, func(ctx context.Context, m *machine.Machine) error {
		s, err := spec.FileSystem("ext3", "nobarrier", "", "sync", "")
		if err != nil {
			return err
		}
		run := spec.Run{Spec: s, Strategy: explore.BreadthFirst, Depth: 1, Restore: explore.ByReplay,
			Limit: 4, Seed: 1, NoAccount: true, NoJudge: true, RecoverIn: spec.InUserMode,
			Workloads: &spec.Workloads{Texts: []string{"creat foo", "mkdir A; fsync A"}}}
		dir := t.TempDir()
		inUserMode := func(do func(cfg explore.Config) error) {
			t.Helper()
			cfg, err := run.Config()
			if err != nil {
				t.Fatal(err)
			}
			n, err := run.UserMode()
			if err != nil {
				t.Fatal(err)
			}
			cfg.System, cfg.Dir = m, dir
			if err := WithUserMode(ctx, userModeGuest(t, n.Bytes),
				func(u *usermode.Machine) error { cfg.Recovery = u; return do(cfg) }); err != nil {
				t.Fatal(err)
			}
		}
		inUserMode(func(cfg explore.Config) error {
			cfg.Runs = 1
			sum, err := explore.Run(ctx, cfg)
			if sum.Runs != 1 || sum.Broken() > 0 || sum.Complete {
				t.Errorf("a workload without a sync: %+v", sum)
			}
			return err
		})
		inUserMode(func(cfg explore.Config) error {
			sum, err := explore.Run(ctx, cfg)
			if sum.Runs != 2 || sum.Broken() == 0 || sum.Recovered == 0 || !sum.Complete {
				t.Errorf("resumed: %+v", sum)
			}
			return err
		})
		inUserMode(func(cfg explore.Config) error {
			sum, err := explore.Read(dir)
			if err != nil || len(sum.Errors) == 0 {
				t.Fatalf("%+v, %v", sum, err)
			}
			found, err := explore.Replay(ctx, cfg, sum.Errors[0])
			if found == nil || found.Kind != sum.Errors[0].Kind {
				t.Errorf("replayed: %v, want %s", found, sum.Errors[0].Kind)
			}
			return err
		})
		return nil
	})
}

// TestGuestUserModeLog checks the crash states of a recording in user-mode Linux by a script.
func TestGuestUserModeLog(t *testing.T) {
	name := filepath.Join(guardtest.Project(t), "hostd/guard/testdata/logs/ext3")
	base, err := blocktap.OpenImage(name + ".base.zst")
	if err != nil {
		t.Fatal(err)
	}
	defer base.Close()
	disk := recheck.Disk{Base: base, FS: "ext3"}
	for script, wrong := range map[string]bool{"ls -laR": false, "[ ! -e lost+found ]": true} {
		err := WithUserMode(t.Context(), userModeGuest(t, base.Size()),
			func(u *usermode.Machine) error {
				check, err := recheck.New(t.Context(), u, disk, script)
				if err != nil {
					return err
				}
				cfg := audit.Config{Base: base, Logs: []string{name + ".log.zst"}, FS: disk.FS,
					Check: check.Check}
				cfg.Crash.Limit = 2
				sum, err := audit.Run(t.Context(), cfg)
				if err != nil {
					return err
				}
				t.Logf("%s: %+v", script, sum)
				if sum.Checked == 0 || (len(sum.Findings) > 0) != wrong {
					t.Errorf("%s: %+v", script, sum)
				}
				return nil
			})
		if err != nil {
			t.Error(err)
		}
	}
}
