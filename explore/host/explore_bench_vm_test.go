//go:build vmtest

package host

import (
	"cmp"
	"context"
	"testing"
	"time"

	"go.uber.org/zap"

	"fsward/explore"
	"fsward/explore/machine"
	"fsward/explore/spec"
	"fsward/hostd/guardtest"
)

// BenchmarkGuestExplore measures how fast crash states are recovered, mounted, checked and
// unmounted in a guest, and how long it takes to return to a state, in the first half minute of an
// exploration. EXPLODE tried 3.2 crash states a second.
func BenchmarkGuestExplore(b *testing.B) {
	dir := guardtest.GuestDir(b)
	err := WithMachine(b.Context(), GuestConfig{Dir: dir}, zap.NewNop(),
		func(m *machine.Machine) error {
			for _, fs := range []string{"ext3", "vfat", "btrfs"} {
				var failed error
				b.Run(fs, func(b *testing.B) {
					for b.Loop() {
						failed = cmp.Or(failed, benchExplore(b, m, fs))
					}
				})
				if failed != nil {
					return failed
				}
			}
			return nil
		})
	if err != nil {
		b.Fatal(err)
	}
}

// benchExplore explores a file system for half a minute and reports the rates.
func benchExplore(b *testing.B, m *machine.Machine, fs string) error {
	s, err := spec.FileSystem(fs, "", "", "sync", "")
	if err != nil {
		return err
	}
	cfg, err := spec.Run{Spec: s, Strategy: explore.BreadthFirst, Limit: 64, Seed: 1}.Config()
	if err != nil {
		return err
	}
	cfg.System, cfg.Dir = m, b.TempDir()
	ctx, cancel := context.WithTimeout(b.Context(), 30*time.Second)
	defer cancel()
	sum, err := explore.Run(ctx, cfg)
	if err != nil {
		return err
	}
	b.ReportMetric(float64(sum.Recovered)/sum.Recovering, "recoveries/s")
	b.ReportMetric(float64(sum.CrashStates)/sum.Seconds, "crash-disks/s")
	b.ReportMetric(1000*sum.Restoring/float64(sum.Runs), "ms/restore")
	return nil
}
