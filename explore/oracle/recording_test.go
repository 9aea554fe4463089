package oracle

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fsward/blocktap"
	"fsward/explore/crash"
	"fsward/explore/recordtest"
)

// A recording is a log of the host's kernel's writes to a file system.
type recording struct {
	fs   string
	base string // file with the disk before the log
	log  string // file with the log
}

// A workload is a named load.
type workload struct {
	name string
	recordtest.Load
}

// record records a workload on the host's kernel.
func record(tb testing.TB, w workload) recording {
	tb.Helper()
	r := recording{fs: w.FS}
	r.base, r.log = recordtest.Record(tb, w.Load)
	return r
}

func shell(tb testing.TB, args ...string) {
	tb.Helper()
	if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
		tb.Fatalf("%s: %v: %s", strings.Join(args, " "), err, out)
	}
}

// open opens the disk before the log.
func (r recording) open(tb testing.TB) blocktap.Disk {
	tb.Helper()
	d, err := blocktap.OpenImage(r.base)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = d.Close() })
	return d
}

// save writes a state to a file: a copy of the base with the pages that differ.
func (r recording) save(tb testing.TB, s *crash.State, path string) {
	tb.Helper()
	shell(tb, "cp", "--sparse=always", r.base, path)
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		tb.Fatal(err)
	}
	for addr, contents := range s.Pages() {
		if _, err := f.WriteAt(contents, int64(addr)); err != nil {
			tb.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		tb.Fatal(err)
	}
}

// check reports whether the file system's own checker finds a fault in an image, after a replay of
// the journal of ext3.
func (r recording) check(tb testing.TB, image string) (faulty bool, output string) {
	tb.Helper()
	if r.fs == "ext3" {
		if needsRecovery(tb, image) { // without a journal to replay, this run silently corrects counts
			out, err := exec.Command("e2fsck", "-y", "-E", "journal_only", image).CombinedOutput()
			var exit *exec.ExitError
			if err != nil && (!errors.As(err, &exit) || exit.ExitCode() > 1) {
				return true, string(out)
			}
		}
		out, err := exec.Command("e2fsck", "-fn", image).CombinedOutput()
		return err != nil, string(out)
	}
	if out, err := exec.Command("btrfs", "check", image).CombinedOutput(); err != nil {
		return true, string(out)
	}
	// It does not read the logs of fsync, which a mount replays.
	out, err := exec.Command("btrfs", "inspect-internal", "dump-tree", image).CombinedOutput()
	return err != nil || bytes.Contains(out, []byte("verify failed")), string(out)
}

// needsRecovery reports whether an ext3 superblock has INCOMPAT_RECOVER.
func needsRecovery(tb testing.TB, image string) bool {
	tb.Helper()
	f, err := os.Open(image)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	var incompat [1]byte
	if _, err := f.ReadAt(incompat[:], 1024+96); err != nil {
		tb.Fatal(err)
	}
	return incompat[0]&4 != 0
}

const files = `
mkdir a b
for i in 1 2 3 4 5 6; do
	echo "$i" > a/$i
	dd if=/dev/zero of=b/$i bs=1k count=$((i*7)) status=none
done
sync
mv a/1 b/one; rm b/2; ln a/3 b/three; mkdir a/deep; echo x > a/deep/file
sync -d a/deep/file
truncate -s 3000 b/6; rm a/4; ln -s /somewhere/else a/link
dd if=/dev/zero of=b/fsynced bs=4k count=9 conv=fsync status=none
sync
rm -r a; rmdir b 2>/dev/null || true
sync`

var workloads = []workload{
	{"ext3", recordtest.Load{FS: "ext3", Size: 64 << 20, Do: recordtest.Script(files)}},
	{"ext3-4k-data-journal", recordtest.Load{
		FS:    "ext3",
		Size:  64 << 20,
		Mkfs:  []string{"-b", "4096"},
		Mount: []string{"data=journal"},
		Do:    recordtest.Script(files),
	}},
	{"btrfs", recordtest.Load{
		FS:   "btrfs",
		Size: 64 << 20,
		Mkfs: []string{"-m", "single"},
		Do:   recordtest.Script(files),
	}},
	{"btrfs-dup", recordtest.Load{
		FS:   "btrfs",
		Size: 128 << 20,
		Mkfs: []string{"-m", "dup"},
		Do:   recordtest.Script(files),
	}},
}

// each calls visit with each state of a recording.
func (r recording) each(
	tb testing.TB, o crash.Options, visit func(*crash.State) error,
) crash.Stats {
	tb.Helper()
	stats, err := crash.Each(r.open(tb), crash.OpenTrace(r.log), o, visit)
	if err != nil {
		tb.Fatal(err)
	}
	return stats
}

func (r recording) oracle(tb testing.TB, o Options) *Oracle {
	tb.Helper()
	oracle, err := NewMaker(o).New(context.Background(), r.fs, r.open(tb))
	if err != nil {
		tb.Fatal(err)
	}
	return oracle
}

// TestSound checks that every state of a sound kernel's log is sound. The file system's own checker
// must agree about every 149th state.
func TestSound(t *testing.T) {
	for _, w := range workloads {
		t.Run(w.name, func(t *testing.T) {
			r := record(t, w)
			o := r.oracle(t, Options{})
			n, checked := 0, 0
			start := time.Now()
			var judging time.Duration
			stats := r.each(t, crash.Options{Unit: 4096, Limit: 100, Seed: 1}, func(s *crash.State) error {
				at := time.Now()
				v, err := o.Judge(context.Background(), s)
				judging += time.Since(at)
				if err != nil {
					return err
				}
				if n++; n%149 == 0 || v.Kind() != "" {
					checked++
					image := filepath.Join(t.TempDir(), "state")
					r.save(t, s, image)
					faulty, output := r.check(t, image)
					if faulty != (v.Kind() != "") {
						t.Errorf("state %s: oracle: %s; checker: faulty %v: %s",
							s.ID(), v, faulty, output)
					}
					if v.Kind() != "" {
						t.Errorf("state %s: %s", s.ID(), v)
						if o.Stats().Violated > 3 {
							return fmt.Errorf("more than 3 states are faulty")
						}
					}
				}
				return nil
			})
			t.Logf("%+v %+v, %d checked in %v, judging %v: %.0f states/s",
				stats, o.Stats(), checked, time.Since(start), judging,
				float64(o.Stats().Judged)/judging.Seconds())
		})
	}
}
