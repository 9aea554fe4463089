package explore_test

import (
	"context"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"fsward/explore"
	"fsward/explore/agent"
	"fsward/explore/ekm"
	"fsward/explore/exploretest"
)

// failingKernel has three places that can fail in mkdir, the first and the last of which are one call site. Where the first fails and
// the second does too, it leaves the directory behind though it says that it failed.
type failingKernel struct {
	at    []uint32
	there bool
	plans [][]uint32 // that were tried
}

func (k *failingKernel) perform(_ *exploretest.System, op agent.Op) agent.Result {
	if at, ok := op.FailsAt(); ok {
		k.at = at
		k.plans = append(k.plans, at)
		return agent.Result{}
	}
	switch op.String() {
	case "stop failing calls in the kernel":
		hits := []agent.Hit{{Point: ekm.Slab, Stack: 7, Site: "mkdir+0x1"}, {Point: ekm.Slab, Stack: 8, Site: "mkdir+0x2"}, {Point: ekm.Slab, Stack: 7, Site: "mkdir+0x1"}}
		for i := range hits {
			hits[i].Failed = slices.Contains(k.at, uint32(i))
		}
		return agent.Result{Data: agent.EncodeHits(hits)}
	case "mkdir /x 0755":
		k.there = len(k.at) == 0 || slices.Equal(k.at, []uint32{0, 1})
		if len(k.at) > 0 {
			return agent.Result{Errno: unix.ENOMEM}
		}
	case "stat /x":
		if !k.there {
			return agent.Result{Errno: unix.ENOENT}
		}
	}
	return agent.Result{}
}

// mkdirer asks whether a mkdir(2) that fails leaves something.
type mkdirer struct{ explore.Plain }

func (mkdirer) Mutate(e *explore.Env) error {
	made, err := e.Try(agent.Mkdir("/x", 0o755))
	if err != nil {
		return err
	}
	seen, err := e.Try(agent.Stat("/x"))
	if err == nil && (made[0].Errno == 0) != (seen[0].Errno == 0) {
		err = explore.Failuref("failed call has an effect", "mkdir gives %v, stat %v", made[0].Errno, seen[0].Errno)
	}
	return err
}

func (mkdirer) Check(*explore.Env, explore.Crash) error { return nil }

// No failure is tried, then each call site alone, then two; the error that takes two is found with two and replays.
func TestIterativeFailing(t *testing.T) {
	for failures, want := range [][][]uint32{{}, {nil, {0}, {1}}, {nil, {0}, {1}, {0, 1}, {1, 2}}} {
		k := new(failingKernel)
		cfg := toy(t, "", 1, 1)
		s := cfg.System.(*exploretest.System)
		s.Perform = k.perform
		s.Programs["sh"] = func(*exploretest.System, agent.Command) (agent.Exit, error) { return agent.Exit{}, nil } // insmod
		cfg.Stack.Checker, cfg.Depth, cfg.MaxFaults, cfg.Strategy = mkdirer{}, 1, failures, explore.BreadthFirst
		sum, err := explore.Run(context.Background(), cfg)
		if err != nil || !sum.Complete {
			t.Fatal(sum, err)
		}
		plans := slices.Clone(k.plans)
		if !slices.EqualFunc(plans, want, slices.Equal) || int(sum.Failed) != max(0, len(want)-1) {
			t.Errorf("%d failures: %v were tried, want %v; %d failed", failures, plans, want, sum.Failed)
		}
		if found := len(sum.Errors) == 1; found != (failures == 2) {
			t.Errorf("%d failures: found %+v", failures, sum.Errors)
		}
		if failures < 2 {
			continue
		}
		e, err := explore.ReadError(filepath.Join(cfg.Dir, sum.Errors[0].Dir))
		if err != nil {
			t.Fatal(err)
		}
		if found, err := explore.Replay(context.Background(), cfg, e); err != nil || found == nil || len(e.Fail) != 2 {
			t.Errorf("replayed: %v, %v; %v", found, err, e.Fail)
		}
	}
}
