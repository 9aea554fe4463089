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

// early is a checker: a directory that was not synced does not exist after a crash. That holds
// until the journal's thread commits, after five to six seconds.
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
		err = explore.Failuref("durable early", "the directory is on the disk without a sync")
	}
	return err
}

// sleeper is a checker that makes the journal's thread run: by an fsync, which waits for the
// thread, or by sleeping until the thread's timer wakes it.
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

// turnsRun is the result of an exploration with scheduled threads.
type turnsRun struct {
	explore.Summary
	cfg    explore.Config
	events []string // texts of the events of unscheduled threads and diverged replays
}

// exploreTurns explores a file system. Before each step the explorer may run a thread for at most
// wait; with a wait of 0 it does not schedule threads.
func exploreTurns(ctx context.Context, t *testing.T, m *machine.Machine, fs string,
	checker explore.Checker, depth int, wait time.Duration) turnsRun {
	t.Helper()
	_, stack := exploreStack(t, fs)
	stack.Checker = checker
	cfg := explore.Config{System: m, Dir: t.TempDir(), Stack: stack, Strategy: explore.BreadthFirst,
		Depth: depth, Crash: crash.Options{Limit: 4}, Threads: wait}
	var events []string
	cfg.OnEvent = func(e explore.Event) {
		if e.Event == "strayed" || e.Event == "diverged" {
			events = append(events, e.Text)
		}
	}
	began := time.Now()
	sum, err := explore.Run(ctx, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%.0f s, threads run for %v: %+v %v", time.Since(began).Seconds(), wait, sum.Totals, events)
	return turnsRun{sum, cfg, events}
}

// TestGuestTurns checks that the journal's thread of ext3 runs between two operations when the
// explorer schedules it, and that an error which this causes is found and replayed. A held thread
// that runs unscheduled must be reported.
func TestGuestTurns(t *testing.T) {
	inGuest(t, 20*time.Minute, func(ctx context.Context, m *machine.Machine) error {
		at := early{at: "/mnt/a"}
		t.Run("not scheduled", func(t *testing.T) {
			r := exploreTurns(ctx, t, m, "ext3", at, 2, 0)
			if len(r.Errors) != 0 || r.Recovered == 0 {
				t.Errorf("%+v", r.Summary)
			}
		})
		t.Run("journal thread", func(t *testing.T) {
			r := exploreTurns(ctx, t, m, "ext3", at, 2, 8*time.Second)
			if len(r.Errors) != 1 || r.Idle == 0 || len(r.events) > 0 {
				t.Fatalf("%+v", r.Summary)
			}
			e, err := explore.ReadError(filepath.Join(r.cfg.Dir, r.Errors[0].Dir))
			if err != nil {
				t.Fatal(err)
			}
			if last := e.Did[len(e.Did)-1]; !slices.Contains(last, "jbd2/fswrd0-8 runs") {
				t.Errorf("the journal's thread did not run: %v", e.Did)
			}
			if found, err := explore.Replay(ctx, r.cfg, e); err != nil || found == nil {
				t.Errorf("replayed: %v, %v", found, err)
			}
		})
		t.Run("flusher", func(t *testing.T) {
			r := exploreTurns(ctx, t, m, "ext2", at, 2, time.Second)
			errs := withoutSurprises(r.Errors)
			if len(errs) != 1 || len(r.events) > 0 {
				t.Fatalf("%+v", r.Summary)
			}
			e, err := explore.ReadError(filepath.Join(r.cfg.Dir, errs[0].Dir))
			if err != nil || !slices.Contains(e.Did[len(e.Did)-1], "flusher runs") {
				t.Errorf("the flusher did not run: %v, %v", e.Did, err)
			}
		})
		t.Run("fsync waits for the thread", func(t *testing.T) {
			r := exploreTurns(ctx, t, m, "ext3", sleeper{at, true}, 1, time.Second)
			if r.Unscheduled != 0 || len(r.Errors) != 0 {
				t.Errorf("%+v, %v", r.Summary, r.events)
			}
		})
		t.Run("unscheduled", func(t *testing.T) {
			r := exploreTurns(ctx, t, m, "ext3", sleeper{at, false}, 1, time.Second)
			if r.Unscheduled != 1 || len(r.Errors) != 0 ||
				!strings.HasPrefix(strings.Join(r.events, ""), "jbd2/fswrd0-8 ran though held") {
				t.Errorf("%+v, %v", r.Summary, r.events)
			}
		})
		return nil
	})
}
