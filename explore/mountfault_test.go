package explore_test

import (
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"fsward/explore"
	"fsward/explore/agent"
	"fsward/explore/ekm"
	"fsward/explore/exploretest"
)

// A frail is a journaled component whose mount makes three calls that can fail. If the third one
// fails, the mount leaves a journal that is empty.
type frail struct {
	*journaled
	sound bool     // it leaves the journal as it was
	fails []uint32 // numbers of the calls that fail; nil: none
	calls uint32   // since FailAt
}

// Recover does nothing: the mount recovers.
func (*frail) Recover(*explore.Env) error { return nil }

func (f *frail) Mount(e *explore.Env) error {
	_, err := e.Do(agent.Mount("disk", f.At, "frail", 0, ""))
	return err
}

func (f *frail) Unmount(e *explore.Env) error {
	_, err := e.Do(agent.Unmount(f.At, 0))
	return err
}

// perform performs an operation of the component, or of the injection of faults.
func (f *frail) perform(op agent.Op) agent.Result {
	if at, ok := op.FailsAt(); ok {
		f.fails, f.calls = at, 0
		return agent.Result{}
	}
	switch op.Code {
	case agent.FailEnd().Code:
		var hits []agent.Hit
		for i := range f.calls {
			hit := agent.Hit{Point: ekm.Slab, Stack: uint64(1 + i), Site: "frail_mount"}
			hit.Failed = len(f.fails) > 0 && f.fails[0] == i
			hits = append(hits, hit)
		}
		f.fails = nil
		return agent.Result{Data: agent.EncodeHits(hits)}
	case agent.Mount("", "", "", 0, "").Code:
		for range 3 {
			f.calls++
			if len(f.fails) == 0 || f.fails[0] != f.calls-1 {
				continue
			}
			if f.calls == 3 && !f.sound {
				if err := f.write(full, 0); err != nil {
					return agent.Result{Errno: unix.EIO}
				}
			}
			return agent.Result{Errno: unix.ENOMEM}
		}
		if err := f.recover(); err != nil {
			return agent.Result{Errno: unix.EIO}
		}
	}
	return agent.Result{}
}

// TestFaultInMount checks that a mount that loses the journal when one of its calls fails is found,
// and replays. One that leaves it alone is not found, and no call fails without MaxFaults.
func TestFaultInMount(t *testing.T) {
	for _, c := range []struct {
		name   string
		sound  bool
		faults int
		want   string
	}{
		{"it loses the journal", false, 1, "lost"},
		{"it is sound", true, 1, ""},
		{"no call fails", false, 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg, j := journal(t)
			f := &frail{journaled: j, sound: c.sound}
			perform := j.s.Perform
			j.s.Perform = func(s *exploretest.System, op agent.Op) agent.Result {
				if strings.HasPrefix(op.String(), "read ") {
					return perform(s, op)
				}
				return f.perform(op)
			}
			j.s.Programs["sh"] = func(*exploretest.System, agent.Command) (agent.Exit, error) {
				return agent.Exit{}, nil // insmod
			}
			cfg.Stack = explore.Stack{Top: f, Checker: pair{journaled: j}}
			cfg.MaxFaults = c.faults
			got, sum := kinds(t, cfg)
			if strings.Join(got, " ") != c.want {
				t.Fatalf("found %q, want %q", got, c.want)
			}
			if tried := sum.MountFaults > 0; tried != (c.faults > 0) {
				t.Errorf("%d calls failed", sum.MountFaults)
			}
			if c.want == "" {
				return
			}
			e := readError(t, cfg, sum, 0)
			if !strings.Contains(e.Summary, "the call at frail_mount had failed") {
				t.Errorf("summary %q", e.Summary)
			}
			if kind := replay(t, cfg, e); kind != c.want {
				t.Errorf("the replay shows %q", kind)
			}
		})
	}
}
