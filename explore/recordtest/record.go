// Package recordtest records, for tests, what the host's kernel writes to a file system.
package recordtest

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
)

// limit is how long the kernel may work on one load.
const limit = 5 * time.Minute

// A Load is a file system and what happens to it.
type Load struct {
	FS    string   // as mkfs and mount call it
	Size  int64    // of the disk, bytes
	Mkfs  []string // options besides
	Mount []string // options besides commit=300: what commits is the load's
	// Do is what is done on the mounted file system. It may put marks into the log.
	Do func(ctx context.Context, loop *loopmount.Loop, log *trace.Writer) error
}

// Script is a load of shell commands in the mounted file system.
func Script(commands string) func(context.Context, *loopmount.Loop, *trace.Writer) error {
	return func(ctx context.Context, loop *loopmount.Loop, _ *trace.Writer) error {
		_, err := loop.Run(ctx, commands)
		return err
	}
}

// Record makes the file system, lets the host's kernel work on it behind FUSE and a loop device until it is unmounted, and returns
// the paths of the disk as it was before and of the log of what was written. Both are gone when the test ends.
func Record(tb testing.TB, l Load) (base, log string) {
	tb.Helper()
	dir := tb.TempDir()
	base, log = filepath.Join(dir, "base"), filepath.Join(dir, "log")
	work := filepath.Join(dir, "work")
	if err := errors.Join(os.WriteFile(base, nil, 0o600), os.Truncate(base, l.Size)); err != nil {
		tb.Fatal(err)
	}
	run(tb, "mkfs."+l.FS, append(append([]string{"-q"}, l.Mkfs...), base)...)
	run(tb, "cp", "--sparse=always", base, work)
	disk, err := blocktap.OpenFile(work, blocktap.FileOptions{})
	if err != nil {
		tb.Fatal(err)
	}
	defer disk.Close()
	tape, err := trace.Create(log)
	if err != nil {
		tb.Fatal(err)
	}
	device := blocktap.NewDevice(disk, nil)
	device.Record(tape)
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	loop, err := loopmount.Attach(ctx, device, zap.NewNop())
	if err != nil {
		tb.Fatal(err)
	}
	if err = loop.Mount(l.FS, append([]string{"commit=300"}, l.Mount...)...); err == nil {
		err = errors.Join(l.Do(ctx, loop, tape), loop.Unmount())
	}
	if err := errors.Join(err, loop.Close(), tape.Close()); err != nil {
		tb.Fatal(err)
	}
	return base, log
}

func run(tb testing.TB, program string, args ...string) {
	tb.Helper()
	if out, err := exec.Command(program, args...).CombinedOutput(); err != nil {
		tb.Fatalf("%s: %v: %s", program, err, out)
	}
}
