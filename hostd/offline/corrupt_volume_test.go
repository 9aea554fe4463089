package offline_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/zap/zaptest"

	"fsward/blocktap"
	"fsward/blocktap/trace"
	"fsward/change"
	"fsward/explore/recordtest"
	"fsward/hostd/guard"
	"fsward/hostd/guardtest"
	"fsward/hostd/offline"
	"fsward/interp/detect"
)

// partitionStarts are where p1 and p2 of dividedRecording begin, bytes.
var partitionStarts = [2]int64{1 << 20, 40 << 20}

// dividedRecording puts recordings of an ext3 and a Btrfs onto p1 and p2 of one disk.
func dividedRecording(t *testing.T) (base, log string) {
	t.Helper()
	dir := t.TempDir()
	base, log = filepath.Join(dir, "disk.img"), filepath.Join(dir, "disk.log")
	table := fmt.Sprintf("label: gpt\nstart=%d,size=32M\nstart=%d\n", partitionStarts[0]/512,
		partitionStarts[1]/512)
	c := exec.CommandContext(t.Context(), "sh", "-ec", "truncate -s 180M $0; sfdisk -q $0", base)
	c.Stdin = strings.NewReader(table)
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	f, err := os.OpenFile(base, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w, err := trace.Create(log)
	if err != nil {
		t.Fatal(err)
	}
	for i, l := range []recordtest.Load{{FS: "ext3", Size: 32 << 20}, {FS: "btrfs", Size: 128 << 20}} {
		l.Do = recordtest.Script(`for i in 1 2 3 4 5; do
			mkdir d$i; echo $i > d$i/f; ln d$i/f d$i/g; sync -f .; done`)
		image, recorded := recordtest.Record(t, l)
		copyPart(t, f, image, partitionStarts[i])
		for _, r := range recordtest.Requests(t, recorded) {
			if r.Op != blocktap.OpFlush {
				r.Off += uint64(partitionStarts[i])
			}
			if err := w.Log(&r); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return base, log
}

// copyPart copies an image to a place on a disk.
func copyPart(t *testing.T, to io.WriterAt, image string, at int64) {
	t.Helper()
	d, err := blocktap.OpenImage(image)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	piece := make([]byte, 1<<20)
	for off := int64(0); off < int64(d.Size()); off += int64(len(piece)) {
		n, err := d.ReadAt(piece, off)
		if err != nil && !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(piece[:n], func(b byte) bool { return b != 0 }) {
			continue
		}
		if _, err := to.WriteAt(piece[:n], at+off); err != nil {
			t.Fatal(err)
		}
	}
}

// commitsOn replays a log and returns the verdict of each commit by its volume.
func commitsOn(t *testing.T, base, log string) map[string][]change.Outcome {
	t.Helper()
	var seen guardtest.Events
	if _, err := offline.Replay(t.Context(), offline.ReplayConfig{
		Disks: []offline.ReplayDisk{{Base: base, Log: log}}, FS: detect.Auto, KeepGoing: true,
		Sinks: []guard.Sink{&seen}}, zaptest.NewLogger(t)); err != nil {
		t.Fatal(err)
	}
	out := make(map[string][]change.Outcome)
	for _, ev := range seen {
		if ev.Kind == guard.KindCommit {
			out[ev.Volume] = append(out[ev.Volume], ev.Outcome)
		}
	}
	return out
}

// TestCorruptLogOfVolume alters the fourth commit of the Btrfs on the second partition of a
// recorded disk. That commit alone is refused, and a replay of the first partition alone sees none
// of it.
func TestCorruptLogOfVolume(t *testing.T) {
	base, log := dividedRecording(t)
	out := filepath.Join(t.TempDir(), "bad.log")
	done, err := offline.CorruptLogs(t.Context(), []offline.ReplayDisk{{Base: base + ":p2", Log: log}},
		offline.CorruptConfig{FS: detect.Auto, Spec: "inode_item.nlink+1", Commit: 4,
			Out: []string{out}})
	if err != nil {
		t.Fatal(err)
	}
	t.Log(done.What)
	sound := commitsOn(t, base, log)
	if len(sound["p1"]) < 4 || len(sound["p2"]) < 4 {
		t.Fatalf("commits %v, want at least four on p1 and on p2", sound)
	}
	for volume, all := range sound {
		for i, o := range all {
			if o != change.Holds {
				t.Errorf("before the alteration, commit %d of %s is %s", i+1, volume, o)
			}
		}
	}
	got := commitsOn(t, base, out)
	if !slices.Equal(got["p1"], sound["p1"]) {
		t.Errorf("commits of p1 %v, want %v", got["p1"], sound["p1"])
	}
	for i, o := range got["p2"][:4] {
		if bad := o != change.Holds; bad != (i == 3) {
			t.Errorf("commit %d of p2 is %s", i+1, o)
		}
	}
	if alone := commitsOn(t, base+":p1", out); len(alone) != 1 ||
		!slices.Equal(alone["p1"], sound["p1"]) {
		t.Errorf("commits %v of p1 alone, want %v", alone, sound["p1"])
	}
}

// TestQueryLogOfVolumes asks about the last commit of each volume of a recorded disk, of one
// volume, and about a generation.
func TestQueryLogOfVolumes(t *testing.T) {
	base, log := dividedRecording(t)
	titles := func(base, target string) (got []string) {
		t.Helper()
		if err := offline.Query(t.Context(), offline.QueryConfig{Targets: []string{target}, Base: base,
			FS: detect.Auto}, func(q *offline.Querier) error {
			title, _, _ := strings.Cut(q.Title, ",")
			got = append(got, title)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		slices.Sort(got)
		return got
	}
	both := titles(base, log)
	if len(both) != 2 || !strings.HasPrefix(both[0], "volume p1: ext3 generation ") ||
		!strings.HasPrefix(both[1], "volume p2: btrfs generation ") {
		t.Fatalf("asked about %q", both)
	}
	if got := titles(base+":p2", log); !slices.Equal(got, both[1:]) {
		t.Errorf("asked about %q of p2, want %q", got, both[1:])
	}
	_, last, _ := strings.Cut(both[1], "generation ")
	if got := titles(base, log+"@"+last); !slices.Contains(got, both[1]) {
		t.Errorf("asked about %q, want %q", got, both[1])
	}
}
