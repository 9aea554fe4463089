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
	"fsward/explore/crash"
	"fsward/explore/machine"
)

// early is a checker that claims that a directory that was not synced is missing after a crash.
// That holds until the journal's thread commits, after five to six seconds.
type early struct {
	explore.Plain
	at string
}

func (c early) Mutate(e *explore.Env) error {
	if e.Choose(2) == 1 {
		return e.CheckCrashesNow(nil)
	}
	_, err := e.Try(agent.Mkdir(c.at+"/dir", 0o755))
	return err
}

func (c early) Check(e *explore.Env, _ explore.Crash) error {
	r, err := e.Try(agent.Stat(c.at + "/dir"))
	if err == nil && r[0].Errno == 0 {
		err = explore.Failuref("there already", "nobody has forced it to the disk")
	}
	return err
}

// sleeper is a checker that makes the journal's thread run: by fsync, which waits for it, or by
// waiting until its time is up.
type sleeper struct {
	early
	sync bool
}

func (c sleeper) Mutate(e *explore.Env) error {
	if _, err := e.Do(agent.Open(0, c.at+"/file", unix.O_CREAT|unix.O_WRONLY, 0o644),
		agent.Fill(0, 0, 4096, 1)); err != nil {
		return err
	}
	if c.sync {
		return e.Fsync(c.at + "/file")
	}
	_, err := e.Run("sleep", "8")
	return err
}

// TestGuestTurns checks that the journal's thread of ext3 runs between two operations when that is
// chosen, and that an error it causes is found and replayed. A thread that runs without being
// scheduled is reported.
func TestGuestTurns(t *testing.T) {
	inGuest(t, 20*time.Minute, func(ctx context.Context, m *machine.Machine) error {
		run := func(t *testing.T, fs string, checker explore.Checker, depth int,
			wait time.Duration) (explore.Config, explore.Summary, []string) {
			_, stack := exploreStack(t, fs)
			stack.Checker = checker
			cfg := explore.Config{System: m, Dir: t.TempDir(), Stack: stack, Strategy: explore.BreadthFirst,
				Depth: depth, Crash: crash.Options{Limit: 4},
				Threads: wait}
			var told []string
			cfg.OnEvent = func(e explore.Event) {
				if e.Event == "strayed" || e.Event == "diverged" {
					told = append(told, e.Text)
				}
			}
			began := time.Now()
			sum, err := explore.Run(ctx, cfg)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%.0f s, turns of %v: %+v %v", time.Since(began).Seconds(), wait, sum.Totals, told)
			return cfg, sum, told
		}
		at := early{at: "/mnt/a"}
		t.Run("as they like", func(t *testing.T) {
			if _, sum, _ := run(t, "ext3", at, 2, 0); len(sum.Errors) != 0 || sum.Recovered == 0 {
				t.Errorf("%+v", sum)
			}
		})
		t.Run("turns", func(t *testing.T) {
			cfg, sum, told := run(t, "ext3", at, 2, 8*time.Second)
			if len(sum.Errors) != 1 || sum.Idle == 0 || len(told) > 0 {
				t.Fatalf("%+v", sum)
			}
			e, err := explore.ReadError(filepath.Join(cfg.Dir, sum.Errors[0].Dir))
			if err != nil {
				t.Fatal(err)
			}
			if last := e.Did[len(e.Did)-1]; !slices.Contains(last, "jbd2/fswrd0-8 runs") {
				t.Errorf("%v", e.Did)
			}
			if found, err := explore.Replay(ctx, cfg, e); err != nil || found == nil {
				t.Errorf("replayed: %v, %v", found, err)
			}
		})
		t.Run("the flusher's turn", func(t *testing.T) {
			cfg, sum, told := run(t, "ext2", at, 2, time.Second)
			if len(sum.Errors) != 1 || len(told) > 0 {
				t.Fatalf("%+v", sum)
			}
			e, err := explore.ReadError(filepath.Join(cfg.Dir, sum.Errors[0].Dir))
			if err != nil || !slices.Contains(e.Did[len(e.Did)-1], "flusher runs") {
				t.Errorf("%v, %v", e.Did, err)
			}
		})
		t.Run("what is waited for", func(t *testing.T) {
			if _, sum, told := run(t, "ext3", sleeper{at, true}, 1, time.Second); sum.Unscheduled != 0 ||
				len(sum.Errors) != 0 {
				t.Errorf("%+v, %v", sum, told)
			}
		})
		t.Run("on its own account", func(t *testing.T) {
			_, sum, told := run(t, "ext3", sleeper{at, false}, 1, time.Second)
			if sum.Unscheduled != 1 || len(sum.Errors) != 0 ||
				!strings.HasPrefix(strings.Join(told, ""), "jbd2/fswrd0-8 ran though held") {
				t.Errorf("%+v, %v", sum, told)
			}
		})
		return nil
	})
}
