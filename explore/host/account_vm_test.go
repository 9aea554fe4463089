//go:build vmtest

package host

import (
	"context"
	"testing"
	"time"

	"fsward/explore"
	"fsward/explore/machine"
	"fsward/explore/spec"
)

// Bounds of the exploration of one file system.
const (
	accountRuns = 12
	accountTime = 2 * time.Minute
)

// TestGuestAccount checks durability accounting during an exploration. With barriers ext3 and ext4
// have flushed everything when a call that promises durability returns; without barriers ext3 has
// not. The results for other file systems are logged.
func TestGuestAccount(t *testing.T) {
	inGuest(t, 20*time.Minute, func(ctx context.Context, m *machine.Machine) error {
		indebted := map[[2]string]bool{{"ext3", ""}: false, {"ext3", "nobarrier"}: true,
			{"ext4", ""}: false} // by file system and mount options
		runs := make([][2]string, 0, len(indebted))
		for run := range indebted {
			runs = append(runs, run)
		}
		for _, k := range fileSystems(t) {
			_, known := indebted[[2]string{k.Name, ""}]
			if !known && !k.Flat && k.In(m.Hello().Release) && k.Account != nil {
				runs = append(runs, [2]string{k.Name, ""})
			}
		}
		for _, run := range runs {
			s, err := spec.FileSystem(run[0], run[1], "", "sync", "")
			if err != nil {
				return err
			}
			cfg, err := spec.Run{Spec: s, Strategy: explore.BreadthFirst, NoJudge: true}.Config()
			if err != nil {
				return err
			}
			cfg.System, cfg.Dir, cfg.HostOnly = m, t.TempDir(), true // try no crash states
			once, stop := context.WithTimeout(ctx, accountTime)
			cfg.OnEvent = func(e explore.Event) {
				if e.Runs >= accountRuns {
					stop()
				}
			}
			sum, err := explore.Run(once, cfg)
			stop()
			if err != nil {
				return err
			}
			if want, known := indebted[run]; known && want != (len(sum.Errors) > 0) {
				t.Errorf("%s -o %q: %+v", run[0], run[1], sum.Errors)
			}
			t.Logf("%s -o %q: %d runs, diverged %d", run[0], run[1], sum.Runs, sum.Diverged)
			for _, e := range sum.Errors {
				t.Logf("  %s, %d times: %s; %v", e.Kind, e.Count, e.Summary, e.Did)
			}
		}
		return nil
	})
}
