// Package recordtest records the writes of the host's kernel to a file system, for tests. Start
// reading at Record.
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

// limit bounds the time of one load.
const limit = 5 * time.Minute

// A Load is a file system and the operations on it.
type Load struct {
	FS    string   // type, as for mkfs and mount
	Size  int64    // size of the disk in bytes
	Mkfs  []string // more options of mkfs
	Mount []string // more mount options; commit=300 is given, so that only the load causes commits
	// Do performs the operations on the mounted file system. It may put marks into the log.
	Do func(ctx context.Context, loop *loopmount.Loop, log *trace.Writer) error
}

// Script returns a Load.Do that runs shell commands in the mounted file system.
func Script(commands string) func(context.Context, *loopmount.Loop, *trace.Writer) error {
	return func(ctx context.Context, loop *loopmount.Loop, _ *trace.Writer) error {
		_, err := loop.Run(ctx, commands)
		return err
	}
}

// Record makes the file system, mounts it through FUSE and a loop device, performs the load, and
// unmounts it. It returns the paths of the image before the mount and of the log of writes. Both
// files are removed when the test ends.
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
	writer, err := trace.Create(log)
	if err != nil {
		tb.Fatal(err)
	}
	device := blocktap.NewDevice(disk, nil)
	device.Record(writer)
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	loop, err := loopmount.Attach(ctx, device, zap.NewNop())
	if err != nil {
		tb.Fatal(err)
	}
	if err = loop.Mount(l.FS, append([]string{"commit=300"}, l.Mount...)...); err == nil {
		err = errors.Join(l.Do(ctx, loop, writer), loop.Unmount())
	}
	if err := errors.Join(err, loop.Close(), writer.Close()); err != nil {
		tb.Fatal(err)
	}
	return base, log
}

// run runs a program that must succeed.
func run(tb testing.TB, program string, args ...string) {
	tb.Helper()
	if out, err := exec.Command(program, args...).CombinedOutput(); err != nil {
		tb.Fatalf("%s: %v: %s", program, err, out)
	}
}
