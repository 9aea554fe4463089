//go:build vmtest

package host

import (
	"context"
	"testing"
	"time"

	"fsward/explore"
	"fsward/explore/b3"
	"fsward/explore/checkers"
	"fsward/explore/component"
	"fsward/explore/crash"
	"fsward/explore/machine"
)

// runWorkloads tests workloads on top of a component.
func runWorkloads(ctx context.Context, t *testing.T, m *machine.Machine, on *component.Component,
	top explore.Component, texts ...string) explore.Summary {
	t.Helper()
	c := &checkers.Workloads{Core: checkers.Core{At: on.Path(), Promises: on.Promises}, On: on,
		Count: uint32(len(texts)),
		Workload: func(i uint32) (b3.Workload, error) {
			return b3.Parse(texts[i])
		}}
	sum, err := explore.Run(ctx, explore.Config{System: m, Dir: t.TempDir(), Depth: 1,
		Stack: explore.Stack{Top: top, Checker: c}, Strategy: explore.BreadthFirst,
		Restore: explore.ByReplay, Crash: crash.Options{Limit: 2, Seed: 1}})
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

// TestGuestWorkloads checks that a sound ext3 keeps what workloads made persistent, and that an
// ext3 on a disk that drops flushes does not.
func TestGuestWorkloads(t *testing.T) {
	inGuest(t, 5*time.Minute, func(ctx context.Context, m *machine.Machine) error {
		on, _ := exploreStack(t, "ext3")
		sum := runWorkloads(ctx, t, m, on, on, "write foo append; link foo A/bar; fsync A/bar",
			"creat A/foo; sync; rename A B; mkdir A; fsync A",
			"repeat 1000 creat A/f%d; fsync A/f3; rename A B; sync") // there are 512 inodes
		if sum.Runs != 3 || sum.Broken() > 0 || sum.CrashStates == 0 {
			t.Errorf("a sound disk: %+v", sum)
		}
		sum = runWorkloads(ctx, t, m, on, forgetful{on}, "creat foo; fsync foo")
		if sum.Broken() == 0 {
			t.Errorf("a disk that drops flushes: %+v", sum)
		}
		return nil
	})
}
