package durable

import (
	"context"
	"testing"

	"fsward/blocktap/fuse/loopmount"
	"fsward/blocktap/trace"
	"fsward/explore/crash"
	"fsward/explore/recordtest"
)

// TestKernel checks fsync in the host's own kernel, on ext3 and Btrfs. It must wait until its
// writes are durable. Without barriers it does not wait, and the account must find that.
func TestKernel(t *testing.T) {
	for _, c := range []struct {
		fs, option string
		early      bool
	}{
		{"ext3", "barrier=1", false}, {"ext3", "barrier=0", true},
		{"btrfs", "barrier", false}, {"btrfs", "nobarrier", true},
	} {
		t.Run(c.fs+" "+c.option, func(t *testing.T) {
			load := recordtest.Load{
				FS:    c.fs,
				Size:  128 << 20,
				Mount: []string{c.option},
				Do:    twoCalls,
			}
			_, log := recordtest.Record(t, load)
			var a Account
			debts, err := a.Follow(crash.OpenTrace(log))
			if err != nil {
				t.Fatal(err)
			}
			if early := len(debts) == 2; early != c.early || len(debts) == 1 {
				t.Errorf("%d of 2 calls returned too early: %v", len(debts), debts)
			}
		})
	}
}

// twoCalls writes and fsyncs two files, each between two marks.
func twoCalls(ctx context.Context, loop *loopmount.Loop, log *trace.Writer) error {
	for _, call := range []string{"first", "second"} {
		if err := log.Mark("begin " + call); err != nil {
			return err
		}
		write := "dd if=/dev/zero of=" + call + " bs=4k count=3 conv=fsync status=none"
		if _, err := loop.Run(ctx, write); err != nil {
			return err
		}
		if err := log.Mark("return " + call); err != nil {
			return err
		}
	}
	return nil
}
