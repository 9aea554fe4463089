package explore_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"fsward/explore"
	"fsward/explore/agent"
	"fsward/explore/exploretest"
)

// A slotted is a machine with directories and open files. As the agent does, it closes the files at
// the end of a batch. It notes the operations that it performs, and counts the batches.
type slotted struct {
	*exploretest.System
	mounted bool
	names   map[string]bool
	open    map[uint32]bool
	did     []string
	batches int
}

func newSlotted() *slotted {
	s := &slotted{System: exploretest.New()}
	s.Perform = func(_ *exploretest.System, op agent.Op) agent.Result {
		return agent.Result{Errno: s.perform(op)}
	}
	return s
}

func (s *slotted) perform(op agent.Op) unix.Errno {
	slot, _, texts, _ := op.Fields()
	switch word, _, _ := strings.Cut(op.String(), " "); word {
	case "mount":
		s.mounted, s.names, s.open = true, make(map[string]bool), make(map[uint32]bool)
	case "umount":
		if len(s.open) > 0 {
			return unix.EBUSY
		}
		s.mounted = false
	case "mkdir":
		if !s.mounted || s.names[texts[0]] {
			return unix.EEXIST
		}
		s.names[texts[0]] = true
	case "open":
		if s.open[slot] { // a file of an earlier batch
			return unix.EMFILE
		}
		s.open[slot] = true
	case "close":
		delete(s.open, slot)
		return 0
	case "sync":
	default:
		return unix.ENOSYS
	}
	if !strings.HasPrefix(texts[0], "/proc/") { // read now and then
		s.did = append(s.did, op.String())
	}
	return 0
}

func (s *slotted) Do(ctx context.Context, b agent.Batch) (agent.Done, error) {
	s.batches++
	defer func() { clear(s.open) }()
	return s.System.Do(ctx, b)
}

// An unmarked is a machine that cannot mark within a batch.
type unmarked struct{ explore.System }

// mounting is a component that is mounted by an operation.
type mounting struct{ explore.Node }

func (*mounting) Init(*explore.Env) error { return nil }

func (m *mounting) Mount(e *explore.Env) error {
	_, err := e.Do(agent.Mount("disk", m.At, "toy", 0, ""))
	return err
}

func (m *mounting) Unmount(e *explore.Env) error {
	_, err := e.Do(agent.Unmount(m.At, 0))
	return err
}

func (m *mounting) Recover(*explore.Env) error { return nil }

// making is a checker that makes directories, some of them twice, with files open.
type making struct {
	explore.Plain
	varies *int // if not nil, the name depends on it
}

func (m *making) Mutate(e *explore.Env) error {
	name := [...]string{"/toy/a", "/toy/b", "/toy/c"}[e.Choose(3)]
	if m.varies != nil {
		*m.varies++
		name += strings.Repeat("x", *m.varies%5)
	}
	if _, err := e.Try(agent.Open(2, name, 0, 0), agent.Mkdir(name, 0o700)); err != nil {
		return err
	}
	if e.Choose(2) == 0 {
		return nil
	}
	if err := e.Mark("made"); err != nil {
		return err
	}
	_, err := e.Try(agent.Open(2, name, 0, 0), agent.Sync())
	return err
}

func (*making) Check(*explore.Env, explore.Crash) error { return nil }

// TestReplayAhead checks that the machine performs the same operations if the requests of steps are
// sent with the mount, and gets fewer batches.
func TestReplayAhead(t *testing.T) {
	run := func(ahead bool, varies *int) (*slotted, explore.Totals) {
		s := newSlotted()
		var machine explore.System = s
		if !ahead {
			machine = unmarked{s}
		}
		on := []explore.Component{explore.RAMDisk(0, 1<<16)}
		sum, err := explore.Run(context.Background(), explore.Config{System: machine, Dir: t.TempDir(),
			Depth: 3, Strategy: explore.BreadthFirst, Restore: explore.ByReplay,
			Stack: explore.Stack{Top: &mounting{explore.Node{At: "/toy", On: on}},
				Checker: &making{varies: varies}}})
		if err != nil || !sum.Complete || len(sum.Errors) > 0 {
			t.Fatalf("ahead %t: %+v, %v", ahead, sum, err)
		}
		return s, sum.Totals
	}
	one, single := run(false, nil)
	many, together := run(true, nil)
	if !slices.Equal(one.did, many.did) {
		t.Errorf("other operations: %d and %d of them", len(one.did), len(many.did))
	}
	if single.States != together.States || single.Runs != together.Runs || together.Diverged > 0 {
		t.Errorf("%+v\n%+v", single, together)
	}
	if many.batches*5 > one.batches*4 {
		t.Errorf("%d batches, and %d one by one", many.batches, one.batches)
	}
	t.Logf("%d batches, and %d one by one", many.batches, one.batches)

	count := 0
	if _, sum := run(true, &count); sum.Runs != together.Runs || sum.Diverged > 0 {
		t.Errorf("a checker that asks for other things each time: %+v", sum)
	}
}
