package trace

import (
	"context"
	"errors"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fsward/blocktap"
	"fsward/shareddata"
)

func command(t *testing.T, name string, args ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if out, err := exec.CommandContext(ctx, name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %s (Debian packages zstd, btrfs-progs, e2fsprogs): %v\n%s",
			name, strings.Join(args, " "), err, out)
	}
}

// TestKernelLogs replays logs of a real kernel onto the images that they begin with, and checks the
// results with the file system's own checker. The requests also go through a Writer. The log that
// it writes has to lead to the same image.
func TestKernelLogs(t *testing.T) {
	dir := shareddata.Path(t, "logs")
	for _, c := range []struct {
		name    string
		entries uint64
		check   []string
	}{
		{"btrfs-single-4k", 1499, []string{"btrfs", "check"}},
		{"ext3-default", 1379, []string{"e2fsck", "-fn"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			image := filepath.Join(t.TempDir(), "disk.img")
			base := filepath.Join(dir, c.name+".base.img.zst")
			command(t, "zstd", "-dq", "--sparse", base, "-o", image)
			again := image + ".again"
			command(t, "cp", "--sparse=always", image, again)
			log, err := Open(filepath.Join(dir, c.name+".log.zst"))
			if err != nil {
				t.Fatal(err)
			}
			defer log.Close()
			if log.Entries() != c.entries {
				t.Errorf("the superblock says %d entries, want %d", log.Entries(), c.entries)
			}
			ours := filepath.Join(t.TempDir(), "ours.log")
			w, err := Create(ours)
			if err != nil {
				t.Fatal(err)
			}
			if n := replay(t, log.Reader, image, w); n != c.entries {
				t.Errorf("%d entries read, want %d", n, c.entries)
			}
			command(t, c.check[0], append(c.check[1:], image)...)
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			second, err := Open(ours)
			if err != nil {
				t.Fatal(err)
			}
			defer second.Close()
			replay(t, second.Reader, again, nil)
			command(t, "cmp", image, again)
		})
	}
}

// replay performs the requests of a log on an image and records them in w unless it is nil. It
// returns the number of entries.
func replay(t *testing.T, r *Reader, image string, w *Writer) uint64 {
	t.Helper()
	disk, err := blocktap.OpenFile(image, blocktap.FileOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer disk.Close()
	dev := blocktap.NewDevice(noFlush{disk}, nil)
	if w != nil {
		dev.Record(w)
	}
	entries := uint64(0)
	for {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			return entries
		}
		if err != nil {
			t.Fatal(err)
		}
		entries = e.Index + 1
		if q, ok := e.Request(); ok {
			if err := dev.Do(context.Background(), &q); err != nil {
				t.Fatalf("entry %d: %v", e.Index, err)
			}
		}
	}
}

// noFlush is a disk that need not be durable.
type noFlush struct{ blocktap.Disk }

func (noFlush) Flush() error { return nil }
