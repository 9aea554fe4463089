package explore_test

import (
	"context"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"fsward/explore"
	"fsward/explore/agent"
	"fsward/explore/ekm"
	"fsward/explore/exploretest"
)

// A failingKernel has three hits in mkdir at which it can fail. The first and the last are at one
// call site. If the first two fail, mkdir fails and nevertheless leaves the directory.
type failingKernel struct {
	at     []uint32 // hits that fail
	exists bool     // the directory exists
	plans  [][]uint32
}

func (k *failingKernel) perform(_ *exploretest.System, op agent.Op) agent.Result {
	if at, ok := op.FailsAt(); ok {
		k.at = at
		k.plans = append(k.plans, at)
		return agent.Result{}
	}
	switch op.String() {
	case "stop failing calls in the kernel":
		first := agent.Hit{Point: ekm.Slab, Stack: 7, Site: "mkdir+0x1"}
		second := agent.Hit{Point: ekm.Slab, Stack: 8, Site: "mkdir+0x2"}
		hits := []agent.Hit{first, second, first}
		for i := range hits {
			hits[i].Failed = slices.Contains(k.at, uint32(i))
		}
		return agent.Result{Data: agent.EncodeHits(hits)}
	case "mkdir /x 0755":
		k.exists = len(k.at) == 0 || slices.Equal(k.at, []uint32{0, 1})
		if len(k.at) > 0 {
			return agent.Result{Errno: unix.ENOMEM}
		}
	case "stat /x":
		if !k.exists {
			return agent.Result{Errno: unix.ENOENT}
		}
	}
	return agent.Result{}
}

// A mkdirer checks that a failed mkdir(2) leaves nothing.
type mkdirer struct{ explore.Plain }

func (mkdirer) Mutate(e *explore.Env) error {
	made, err := e.Try(agent.Mkdir("/x", 0o755))
	if err != nil {
		return err
	}
	seen, err := e.Try(agent.Stat("/x"))
	if err == nil && (made[0].Errno == 0) != (seen[0].Errno == 0) {
		err = explore.Failuref("failed call has an effect", "mkdir returns %v, and stat %v",
			made[0].Errno, seen[0].Errno)
	}
	return err
}

func (mkdirer) Check(*explore.Env, explore.Crash) error { return nil }

// TestIterativeFailing checks that the explorer injects no fault first, then one at each call site,
// then two. It finds the failure that needs two faults with MaxFaults 2, and the error replays.
func TestIterativeFailing(t *testing.T) {
	for failures, want := range [][][]uint32{{}, {nil, {0}, {1}}, {nil, {0}, {1}, {0, 1}, {1, 2}}} {
		k := new(failingKernel)
		cfg := toy(t, "", 1, 1)
		system(cfg).Perform = k.perform
		ignoreShell(cfg)
		cfg.Stack.Checker, cfg.Depth, cfg.MaxFaults = mkdirer{}, 1, failures
		cfg.Strategy = explore.BreadthFirst
		sum, err := explore.Run(context.Background(), cfg)
		if err != nil || !sum.Complete {
			t.Fatal(sum, err)
		}
		plans := slices.CompactFunc(slices.Clone(k.plans), slices.Equal) // the replays of an error
		if !slices.EqualFunc(plans, want, slices.Equal) || int(sum.Failed) != max(0, len(want)-1) {
			t.Errorf("MaxFaults %d: plans %v, want %v; %d executions with faults",
				failures, plans, want, sum.Failed)
		}
		if found := len(sum.Errors) == 1; found != (failures == 2) {
			t.Errorf("MaxFaults %d: errors %+v", failures, sum.Errors)
		}
		if failures < 2 {
			continue
		}
		e := readError(t, cfg, sum, 0)
		if kind := replay(t, cfg, e); kind == "" || len(e.Fail) != 2 {
			t.Errorf("replay shows %q with faults %v", kind, e.Fail)
		}
	}
}

// A brokenKernel loses a page when the second call of mkdir fails. Nothing shows it until the next
// mkdir, which then leaves nothing.
type brokenKernel struct {
	failingKernel
	broken bool
}

func (k *brokenKernel) perform(s *exploretest.System, op agent.Op) agent.Result {
	if op.String() != "mkdir /x 0755" {
		return k.failingKernel.perform(s, op)
	}
	k.exists = len(k.at) == 0 && !k.broken
	if len(k.at) > 0 {
		k.broken = k.broken || slices.Contains(k.at, 1)
		return agent.Result{Errno: unix.ENOMEM}
	}
	return agent.Result{}
}

// brokenMkdirer is a mkdirer that repairs the kernel when an execution begins.
type brokenMkdirer struct {
	mkdirer
	k *brokenKernel
}

func (c brokenMkdirer) Init(*explore.Env) error {
	c.k.broken, c.k.exists = false, false
	return nil
}

// TestStepsAfterAFault checks that a state behind an injected fault has children: a bug that shows
// one step later is found. Its error has the faults of both steps, is minimized, and replays.
func TestStepsAfterAFault(t *testing.T) {
	k := new(brokenKernel)
	cfg := toy(t, "", 1, 1)
	system(cfg).Perform = k.perform
	ignoreShell(cfg)
	cfg.Stack.Checker, cfg.Depth, cfg.MaxFaults = brokenMkdirer{k: k}, 3, 1
	cfg.Strategy = explore.DepthFirst
	sum, err := explore.Run(context.Background(), cfg)
	if err != nil || !sum.Complete || len(sum.Errors) != 1 || sum.Diverged != 0 {
		t.Fatalf("%+v, %v", sum, err)
	}
	e := readError(t, cfg, sum, 0)
	if len(e.Steps) != 2 || len(e.StepFaults) != 1 || len(e.StepFaults[0]) != 1 ||
		e.StepFaults[0][0].At != 1 || len(e.Fail) != 0 {
		t.Errorf("%d steps, faults %+v and %+v", len(e.Steps), e.StepFaults, e.Fail)
	}
	if kind := replay(t, cfg, e); kind != "failed call has an effect" {
		t.Errorf("the replay shows %q", kind)
	}
}

// A copier is a script that copies a file with two commands and ignores their errors. The copy is
// expected to be there.
type copier struct{ explore.Plain }

func (copier) Mutate(e *explore.Env) error {
	for _, line := range []string{"copy", "force"} {
		if _, err := e.Run(line); err != nil {
			return err
		}
	}
	there, err := e.Run("look")
	if err == nil && there.Code != 0 {
		err = explore.Failuref("copy lost", "it is not there")
	}
	return err
}

func (copier) Check(*explore.Env, explore.Crash) error { return nil }

// Signature runs a command after the step, in which no call fails.
func (copier) Signature(e *explore.Env) ([]byte, error) {
	_, err := e.Run("sign")
	return nil, err
}

// Calls fail while commands run. The hits of all commands of a step are numbered together, and the
// failure of the second one in the second command loses the copy.
func TestFaultsInCommands(t *testing.T) {
	for failures, want := range [][][]uint32{{}, {nil, {0}, {1}, {2}, {3}}} {
		var plans [][]uint32
		there := true
		cfg := toy(t, "", 1, 1)
		command := func(_ *exploretest.System, c agent.Command) (agent.Exit, error) {
			if c.Args[0] == "sign" && c.Faults != nil {
				t.Error("calls fail after the step")
			}
			if c.Args[0] == "look" && !there {
				return agent.Exit{Code: 1}, nil
			}
			if c.Faults == nil || c.Args[0] == "look" {
				return agent.Exit{}, nil
			}
			first := c.Args[0] == "copy"
			if first {
				plans = append(plans, c.Faults.At)
				there = true
			}
			hits := make([]agent.Hit, 2)
			for i := range hits {
				hits[i] = agent.Hit{Stack: uint64(len(c.Args[0])*10 + i), Site: c.Args[0],
					Failed: slices.Contains(c.Faults.At, uint32(i))}
			}
			there = there && (first || !hits[1].Failed)
			return agent.Exit{Hits: agent.EncodeHits(hits)}, nil
		}
		for _, name := range []string{"copy", "force", "look", "sign"} {
			system(cfg).Programs[name] = command
		}
		system(cfg).Perform = func(*exploretest.System, agent.Op) agent.Result { return agent.Result{} }
		ignoreShell(cfg)
		cfg.Stack.Checker, cfg.Depth, cfg.MaxFaults = copier{}, 1, failures
		cfg.Strategy = explore.BreadthFirst
		sum, err := explore.Run(context.Background(), cfg)
		if err != nil || !sum.Complete || sum.Diverged != 0 {
			t.Fatal(sum, err)
		}
		plans = slices.CompactFunc(plans, slices.Equal) // the replays of an error
		if !slices.EqualFunc(plans, want, slices.Equal) {
			t.Errorf("MaxFaults %d: plans %v, want %v", failures, plans, want)
		}
		if found := len(sum.Errors) == 1 && sum.Errors[0].Shown > 0; found != (failures == 1) {
			t.Errorf("MaxFaults %d: errors %+v", failures, sum.Errors)
		}
	}
}
