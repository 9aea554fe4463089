package explore_test

import (
	"context"
	"fmt"
	"testing"

	"fsward/explore"
	"fsward/explore/agent"
	"fsward/explore/exploretest"
)

// A rebooted machine boots another kernel after some commands, and when it has failed. A stack that
// was not made in a kernel cannot be mounted in it.
type rebooted struct {
	*exploretest.System
	commands, boots, makes int
	made                   bool
}

// Do gives /proc/self/mounts a line that differs in each kernel.
func (r *rebooted) Do(ctx context.Context, b agent.Batch) (agent.Done, error) {
	if _, _, texts, _ := b.Ops[0].Fields(); len(texts) > 0 && texts[0] == "/proc/self/mounts" {
		text := fmt.Sprintf("dev /dev devtmpfs rw,nr_inodes=%d 0 0\n", 1000+r.boots)
		read := agent.Result{Value: uint64(len(text)), Data: []byte(text)}
		return agent.Done{Results: []agent.Result{{}, read}}, nil
	}
	return r.System.Do(ctx, b)
}

const mostCommands = 40

func (r *rebooted) Run(ctx context.Context, c agent.Command) (agent.Exit, error) {
	r.commands++
	switch {
	case c.Args[1] == "make":
		r.made = true
		r.makes++
	case c.Args[1] == "mount" && !r.made:
		return agent.Exit{Code: 1, Stderr: []byte("the stack was not made in this kernel")}, nil
	}
	return r.System.Run(ctx, c)
}

func (r *rebooted) Worn() bool { return r.commands > mostCommands }

func (r *rebooted) Load(ctx context.Context, c explore.Checkpoint) error {
	r.boots++
	r.commands, r.made = 0, false
	return r.System.Load(ctx, c)
}

// TestReboots checks that a run whose machine boots other kernels finds what another run finds: the
// stack is made again in each kernel, and the pristine disks are as before.
func TestReboots(t *testing.T) {
	for _, bug := range []exploretest.Bug{"", exploretest.DroppedFlush, exploretest.Panic} {
		cfg := toy(t, bug, 2, 1)
		cfg.Restore = explore.ByReplay
		want, err := explore.Run(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		again := toy(t, bug, 2, 1)
		again.Restore = explore.ByReplay
		machine := &rebooted{System: system(again)}
		again.System = machine
		got, err := explore.Run(t.Context(), again)
		if err != nil {
			t.Fatal(err)
		}
		if machine.boots == 0 || machine.makes != machine.boots+1 {
			t.Errorf("%q: %d boots, and the stack was made %d times", bug, machine.boots, machine.makes)
		}
		if got.States != want.States || got.Runs != want.Runs || got.CrashStates != want.CrashStates ||
			len(got.Errors) != len(want.Errors) {
			t.Errorf("%q: %+v\nwant %+v", bug, got.Totals, want.Totals)
		}
	}
}
