package explore_test

import (
	"context"
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

// TestAccount checks that the account of flushes finds a sync without a flush, and the error
// replays. A crash shows the lost byte in addition. Only a crash finds a sync that does not write a
// dirty key.
func TestAccount(t *testing.T) {
	for bug, kinds := range map[exploretest.Bug][]string{
		"":                       nil,
		exploretest.DroppedFlush: {"not flushed: toy sync", "synced byte lost"},
		exploretest.EarlySync:    {"synced byte lost"},
	} {
		cfg := toy(t, bug, 2, 1)
		cfg.NewAccount = newAccount
		got, err := explore.Run(context.Background(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		var found []string
		for i, e := range got.Errors {
			found = append(found, e.Kind)
			again := toyIn(cfg.Dir, bug, 2, 1)
			again.NewAccount = cfg.NewAccount
			if replay(t, again, readError(t, cfg, got, i)) == "" {
				t.Errorf("%q: replay of %s shows no failure", bug, e.Kind)
			}
		}
		slices.Sort(found)
		if !slices.Equal(found, kinds) || !got.Complete || got.Diverged != 0 {
			t.Errorf("%q: %v, want %v; %+v", bug, found, kinds, got.Totals)
		}
		want, err := explore.Run(context.Background(), toy(t, bug, 2, 1))
		if err != nil || want.States != got.States || want.Runs != got.Runs ||
			want.CrashStates != got.CrashStates {
			t.Errorf("%q: %+v with the account, %+v without; %v", bug, got.Totals, want.Totals, err)
		}
	}
}

// A repeater performs the same operations in each step.
type repeater struct {
	explore.Plain
	ops []agent.Op
}

func (c repeater) Mutate(e *explore.Env) error {
	results, err := e.Try(c.ops...)
	if err == nil && len(results) != len(c.ops) {
		err = explore.Failuref("results", "%d of %d operations", len(results), len(c.ops))
	}
	return err
}

func (repeater) Check(*explore.Env, explore.Crash) error { return nil }

// TestPromises checks that each operation that promises durability is checked, with its scope.
func TestPromises(t *testing.T) {
	write := agent.Write(0, 0, []byte("x"))
	openFor := func(slot uint32, flags int) agent.Op { return agent.Open(slot, "/f", flags, 0) }
	for _, c := range []struct {
		name  string
		ops   []agent.Op
		flush bool       // all operations but writes and opens flush
		errno unix.Errno // of the last operation
		kind  string
	}{
		{name: "fsync flushes", ops: []agent.Op{write, agent.Fsync(0)}, flush: true},
		{name: "fsync writes and does not flush", ops: []agent.Op{agent.Fsync(0)},
			kind: "not flushed: fsync"},
		{name: "fsync fails", ops: []agent.Op{agent.Fsync(0)}, errno: unix.EIO},
		{name: "fdatasync", ops: []agent.Op{agent.Fdatasync(0)}, kind: "not flushed: fdatasync"},
		{name: "sync promises earlier writes", ops: []agent.Op{write, agent.Sync()},
			kind: "not flushed: sync"},
		{name: "syncfs", ops: []agent.Op{write, agent.Syncfs(0)}, kind: "not flushed: syncfs"},
		{name: "a write", ops: []agent.Op{openFor(0, unix.O_RDWR), write}},
		{name: "a write with O_DSYNC", ops: []agent.Op{openFor(0, unix.O_RDWR|unix.O_DSYNC), write},
			kind: "not flushed: O_DSYNC"},
		{name: "a fill with O_SYNC", ops: []agent.Op{openFor(3, unix.O_SYNC), agent.Fill(3, 0, 1, 1)},
			kind: "not flushed: O_SYNC"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := toy(t, "", 1, 1)
			cfg.Stack.Checker, cfg.Depth, cfg.NewAccount = repeater{ops: c.ops}, 1, newAccount
			system(cfg).Perform = func(s *exploretest.System, op agent.Op) (r agent.Result) {
				sync := op.Code != write.Code && op.Code != openFor(0, 0).Code
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

// A lossy checker is a repeater that reports a failure for each crash.
type lossy struct{ repeater }

func (c lossy) Mutate(e *explore.Env) error {
	if err := c.repeater.Mutate(e); err != nil {
		return err
	}
	return e.CheckCrashesNow(nil)
}

func (lossy) Check(*explore.Env, explore.Crash) error {
	return explore.Failuref("lost", "all of it")
}

// TestStoppedByAnError checks that a run that is stopped when it reports a failure after a crash
// keeps that error. A failure of the account in the same execution cannot be reproduced any more,
// and is dropped.
func TestStoppedByAnError(t *testing.T) {
	cfg := toy(t, "", 1, 1)
	cfg.Stack.Checker = lossy{repeater{ops: []agent.Op{agent.Fsync(0)}}}
	cfg.Depth, cfg.NewAccount = 1, newAccount
	system(cfg).Perform = func(s *exploretest.System, _ agent.Op) agent.Result {
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
	if err != nil || len(got.Errors) != 1 || len(kept.Errors) != 1 {
		t.Fatalf("%v: kept %+v of %+v", err, kept, got)
	}
	if kept.Errors[0].Kind != "lost" || kept.Runs != 1 || kept.CrashStates == 0 {
		t.Errorf("kept %+v of %+v", kept, got)
	}
}
