package durable

import (
	"context"
	"testing"

	"fsward/blocktap/fuse/loopmount"
	"fsward/blocktap/trace"
	"fsward/explore/crash"
	"fsward/explore/recordtest"
)

// TestKernel: in the host's own kernel an fsync of ext3 and of Btrfs returns when what it wrote is durable, and mounted without
// barriers it does not wait for that.
func TestKernel(t *testing.T) {
	for _, c := range []struct {
		fs, option string
		owes       bool
	}{
		{"ext3", "barrier=1", false}, {"ext3", "barrier=0", true},
		{"btrfs", "barrier", false}, {"btrfs", "nobarrier", true},
	} {
		t.Run(c.fs+" "+c.option, func(t *testing.T) {
			_, log := recordtest.Record(t, recordtest.Load{FS: c.fs, Size: 128 << 20, Mount: []string{c.option}, Do: twoCalls})
			var a Account
			debts, err := a.Follow(crash.OpenTrace(log))
			if err != nil {
				t.Fatal(err)
			}
			if owes := len(debts) == 2; owes != c.owes || len(debts) == 1 {
				t.Errorf("%d of 2 calls returned too early: %v", len(debts), debts)
			}
		})
	}
}

// twoCalls makes two files durable, each between two marks.
func twoCalls(ctx context.Context, loop *loopmount.Loop, log *trace.Writer) error {
	for _, call := range []string{"first", "second"} {
		if err := log.Mark("begin " + call); err != nil {
			return err
		}
		if _, err := loop.Run(ctx, "dd if=/dev/zero of="+call+" bs=4k count=3 conv=fsync status=none"); err != nil {
			return err
		}
		if err := log.Mark("return " + call); err != nil {
			return err
		}
	}
	return nil
}
