package durable

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/zap"

	"fsward/blocktap"
	"fsward/blocktap/fuse/loopmount"
	"fsward/blocktap/trace"
	"fsward/explore/crash"
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
			dir := t.TempDir()
			image, path := filepath.Join(dir, "image"), filepath.Join(dir, "log")
			if err := errors.Join(os.WriteFile(image, nil, 0o600), os.Truncate(image, 128<<20)); err != nil {
				t.Fatal(err)
			}
			if out, err := exec.Command("mkfs."+c.fs, "-q", image).CombinedOutput(); err != nil {
				t.Fatalf("mkfs.%s: %v: %s", c.fs, err, out)
			}
			disk, err := blocktap.OpenFile(image, blocktap.FileOptions{})
			if err != nil {
				t.Fatal(err)
			}
			defer disk.Close()
			tape, err := trace.Create(path)
			if err != nil {
				t.Fatal(err)
			}
			device := blocktap.NewDevice(disk, nil)
			device.Record(tape)
			ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
			defer cancel()
			loop, err := loopmount.Attach(ctx, device, zap.NewNop())
			if err != nil {
				t.Fatal(err)
			}
			err = loop.Mount(c.fs, "commit=300", c.option)
			for _, call := range []string{"first", "second"} {
				if err == nil {
					err = tape.Mark("begin " + call)
				}
				if err == nil {
					_, err = loop.Run(ctx, "dd if=/dev/zero of="+call+" bs=4k count=3 conv=fsync status=none")
				}
				if err == nil {
					err = tape.Mark("return " + call)
				}
			}
			if err := errors.Join(err, loop.Unmount(), loop.Close(), tape.Close()); err != nil {
				t.Fatal(err)
			}
			var a Account
			debts, err := a.Follow(crash.OpenTrace(path))
			if err != nil {
				t.Fatal(err)
			}
			if owes := len(debts) == 2; owes != c.owes || len(debts) == 1 {
				t.Errorf("%d of 2 calls returned too early: %v", len(debts), debts)
			}
		})
	}
}
