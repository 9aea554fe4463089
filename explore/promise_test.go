package explore_test

import (
	"context"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"fsward/explore"
	"fsward/explore/agent"
	"fsward/explore/durable"
	"fsward/explore/exploretest"
	"fsward/explore/ramdisk"
)

func newAccount() *durable.Account { return new(durable.Account) }

// A sync without a flush is found without a crash, beside what it loses, and its folder replays it; one that flushes too little is found by
// the crash alone.
func TestAccount(t *testing.T) {
	for bug, kinds := range map[exploretest.Bug][]string{"": nil, exploretest.DroppedFlush: {"not flushed: toy sync", "synced byte lost"},
		exploretest.EarlySync: {"synced byte lost"}} {
		cfg := toy(t, bug, 2, 1)
		cfg.NewAccount = newAccount
		got, err := explore.Run(context.Background(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		var found []string
		for _, e := range got.Errors {
			found = append(found, e.Kind)
			if again, err := explore.Replay(context.Background(), replayed(cfg, bug), must(explore.ReadError(filepath.Join(cfg.Dir, e.Dir)))(t)); err != nil || again == nil {
				t.Errorf("%q: %s is not found again: %v", bug, e.Kind, err)
			}
		}
		slices.Sort(found)
		if !slices.Equal(found, kinds) || !got.Complete || got.Diverged != 0 {
			t.Errorf("%q: %v, want %v; %+v", bug, found, kinds, got.Totals)
		}
		want, err := explore.Run(context.Background(), toy(t, bug, 2, 1))
		if err != nil || want.States != got.States || want.Runs != got.Runs || want.CrashStates != got.CrashStates {
			t.Errorf("%q: %+v with the account, %+v without; %v", bug, got.Totals, want.Totals, err)
		}
	}
}

func replayed(cfg explore.Config, bug exploretest.Bug) explore.Config {
	again := toyIn(cfg.Dir, bug, 2, 1)
	again.NewAccount = cfg.NewAccount
	return again
}

func must[T any](v T, err error) func(t *testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// one does the same operations again and again.
type one struct {
	explore.Plain
	ops []agent.Op
}

func (c one) Mutate(e *explore.Env) error {
	results, err := e.Try(c.ops...)
	if err == nil && len(results) != len(c.ops) {
		err = explore.Failuref("results", "%d of %d operations", len(results), len(c.ops))
	}
	return err
}

func (one) Check(*explore.Env, explore.Crash) error { return nil }

// Which operations promise, and of what.
func TestPromises(t *testing.T) {
	write := agent.Write(0, 0, []byte("x"))
	for _, c := range []struct {
		name  string
		ops   []agent.Op
		flush bool       // all but a write flush
		errno unix.Errno // of the last operation
		kind  string
	}{
		{name: "fsync flushes", ops: []agent.Op{write, agent.Fsync(0)}, flush: true},
		{name: "fsync writes and does not", ops: []agent.Op{agent.Fsync(0)}, kind: "not flushed: fsync"},
		{name: "fsync fails", ops: []agent.Op{agent.Fsync(0)}, errno: unix.EIO},
		{name: "fdatasync", ops: []agent.Op{agent.Fdatasync(0)}, kind: "not flushed: fdatasync"},
		{name: "sync depends on what was written before", ops: []agent.Op{write, agent.Sync()}, kind: "not flushed: sync"},
		{name: "syncfs", ops: []agent.Op{write, agent.Syncfs(0)}, kind: "not flushed: syncfs"},
		{name: "a write", ops: []agent.Op{agent.Open(0, "/f", unix.O_RDWR, 0), write}},
		{name: "a write through O_DSYNC", ops: []agent.Op{agent.Open(0, "/f", unix.O_RDWR|unix.O_DSYNC, 0), write}, kind: "not flushed: write"},
		{name: "a fill through O_SYNC", ops: []agent.Op{agent.Open(3, "/f", unix.O_SYNC, 0), agent.Fill(3, 0, 1, 1)}, kind: "not flushed: fill"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := toy(t, "", 1, 1)
			cfg.Stack.Checker, cfg.Depth, cfg.NewAccount = one{ops: c.ops}, 1, newAccount
			cfg.System.(*exploretest.System).Perform = func(s *exploretest.System, op agent.Op) (r agent.Result) {
				sync := op.Code != write.Code && op.Code != agent.Open(0, "", 0, 0).Code
				err := s.Submit(0, ramdisk.Write, 0, 8, make([]byte, ramdisk.SectorSize))
				if sync && c.flush && err == nil {
					err = s.Submit(0, ramdisk.Flush, ramdisk.Preflush, 0, nil)
				}
				if err != nil {
					r.Errno = unix.EIO
				}
				if op.String() == c.ops[len(c.ops)-1].String() {
					r.Errno = c.errno
				}
				return r
			}
			got, err := explore.Run(context.Background(), cfg)
			if err != nil {
				t.Fatal(err)
			}
			kind := ""
			for _, e := range got.Errors {
				kind += e.Kind
			}
			if kind != c.kind {
				t.Errorf("found %q, want %q", kind, c.kind)
			}
		})
	}
}

// lossy is one, after which each crash has lost something.
type lossy struct{ one }

func (c lossy) Mutate(e *explore.Env) error {
	if err := c.one.Mutate(e); err != nil {
		return err
	}
	return e.CheckCrashesNow(nil)
}

func (lossy) Check(*explore.Env, explore.Crash) error { return explore.Failuref("lost", "all of it") }

// A run that is stopped by what a crash shows keeps that, though what was found beside it could not be looked at again.
func TestStoppedByAnError(t *testing.T) {
	cfg := toy(t, "", 1, 1)
	cfg.Stack.Checker, cfg.Depth, cfg.NewAccount = lossy{one{ops: []agent.Op{agent.Fsync(0)}}}, 1, newAccount
	cfg.System.(*exploretest.System).Perform = func(s *exploretest.System, _ agent.Op) agent.Result {
		if err := s.Submit(0, ramdisk.Write, 0, 8, make([]byte, ramdisk.SectorSize)); err != nil {
			return agent.Result{Errno: unix.EIO}
		}
		return agent.Result{}
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	cfg.OnEvent = func(e explore.Event) {
		if e.Event == "error" {
			stop()
		}
	}
	got, err := explore.Run(ctx, cfg)
	if err != nil {
		t.Fatal(err)
	}
	kept, err := explore.Read(cfg.Dir)
	if err != nil || len(got.Errors) != 1 || len(kept.Errors) != 1 || kept.Errors[0].Kind != "lost" || kept.Runs != 1 || kept.CrashStates == 0 {
		t.Errorf("%v: kept %+v of %+v", err, kept, got)
	}
}
