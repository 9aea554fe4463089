package guard_test

import (
	"context"
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"go.uber.org/zap/zaptest"

	"fsward/change"
	"fsward/hostd/guard"
	"fsward/hostd/guardtest"
	"fsward/hostd/offline"
	"fsward/interp/detect"
)

var recordLogs = flag.String("record", "", "record this `NAME` of testdata/logs again, with the "+
	"host's kernel (kept inputs of fuzzing then mean other changes)")

// A fuzzLog is a log of a real kernel's writes in testdata/logs, NAME.base.zst and NAME.log.zst. It
// is small, so that a replay takes milliseconds, and has much variety. On several disks the names
// are NAME0, NAME1, ….
type fuzzLog struct {
	name   string
	fs     string
	disks  int // with the file system at the start
	blank  int // further disks
	size   int64
	mkfs   []string
	script string
}

var fuzzLogs = []fuzzLog{
	{"btrfs", "btrfs", 1, 0, 128 << 20,
		[]string{"-n", "4096", "-m", "dup", "-d", "single", "-R", "quota"}, fuzzFiles + `
		btrfs -q subvolume create sub; cp --reflink=always regular sub/copy
		for i in 1 2 3; do echo $i >> d/log; sync d/log; done
		btrfs -q subvolume snapshot sub snap
		printf y | dd of=sub/copy bs=4k seek=2 conv=notrunc status=none; rm regular d/name1*; mv d/link e
		sync -f .
		btrfs -q subvolume delete snap; truncate -s 4k sub/copy; touch orphan; exec 3< orphan; rm orphan
		sync -f .`},
	{"disks", "btrfs", 2, 1, 256 << 20, []string{"-n", "4096", "-m", "raid1", "-d", "raid0"}, `
		for i in $(seq 20); do echo $i > name$i; done
		head -c 20000 /dev/zero | tr '\0' a > regular; sync -f .
		echo 1 >> log; sync log; btrfs -q replace start -B -f -K 1 $DISK2 .; rm name1*
		btrfs -q device add -f -K $DISK0 .; echo 2 >> log; sync log; btrfs -q device remove $DISK0 .
		btrfs -q balance start -f -sconvert=single -mlimit=1 .; sync -f .`},
	{"ext3", "ext3", 1, 0, 8 << 20, []string{"-b", "1024", "-J", "size=1", "-I", "256"}, fuzzFiles + `
		printf y | dd of=regular bs=4k seek=2 conv=notrunc status=none; rm d/name1*; mv d/link e
		touch orphan; exec 3< orphan; rm orphan
		sync -f .
		rm regular; truncate -s 4k large; mkdir f; mv d f/; rm -r f
		sync -f .`},
}

// fuzzFiles begins the scripts. The contents compress well.
const fuzzFiles = `
		echo one > inline; head -c 20000 /dev/zero | tr '\0' a > regular
		for i in 0 1 100 300 3000; do echo $i | dd of=large bs=1k seek=$i conv=notrunc status=none; done
		mkdir d; ln inline d/link; ln -s inline soft; mkfifo pipe; setfattr -n user.a -v x inline
		setfattr -n user.b -v "$(head -c 300 /dev/zero | tr '\0' x)" regular
		for i in $(seq 60); do echo $i > d/name$i-$(head -c 40 /dev/zero | tr '\0' n); done
		truncate -s 1M sparse; printf x | dd of=sparse bs=4k seek=100 conv=notrunc status=none
		fallocate -l 64k prealloc 2> /dev/null || true
		sync -f .`

// replayDisks returns the disks of a recording.
func (r fuzzLog) replayDisks() []offline.ReplayDisk {
	path := filepath.Join("testdata", "logs", r.name)
	if r.disks+r.blank == 1 {
		return []offline.ReplayDisk{{Base: path + ".base.zst", Log: path + ".log.zst"}}
	}
	var disks []offline.ReplayDisk
	for i := range r.disks + r.blank {
		disks = append(disks, offline.ReplayDisk{Name: fmt.Sprint("disk", i),
			Base: fmt.Sprint(path, i, ".base.zst"), Log: fmt.Sprint(path, i, ".log.zst")})
	}
	return disks
}

// record makes the files of a recording.
func (r fuzzLog) record(t *testing.T) {
	images := append([]string{}, guardtest.BlankDisks(t, r.disks+r.blank, r.size)...)
	guardtest.Run(t, "mkfs."+r.fs, slices.Concat([]string{"-q"}, r.mkfs, images[:r.disks])...)
	g, made := guardtest.AttachRecorded(t, images)
	g.MustMount(r.fs)
	g.MustRun(g.DiskVariables() + r.script)
	if err := g.Unmount(); err != nil {
		t.Fatal(err)
	}
	g.NoAlarm()
	g.End()
	if r.disks == 1 {
		guardtest.MustBeClean(t, r.fs, images[0])
	}
	for i, d := range r.replayDisks() {
		guardtest.Run(t, "zstd", "-19", "-q", "-f", "--no-check", made[i].Base, "-o", d.Base)
		guardtest.Run(t, "zstd", "-19", "-q", "-f", "--no-check", made[i].Log, "-o", d.Log)
	}
}

// TestFuzzLogs checks that every commit of the recordings holds on both engines.
func TestFuzzLogs(t *testing.T) {
	for _, r := range fuzzLogs {
		if *recordLogs == r.name {
			r.record(t)
		}
		for _, engine := range guard.Engines {
			t.Run(r.name+" "+engine, func(t *testing.T) {
				sum, err := offline.Replay(context.Background(),
					offline.ReplayConfig{Disks: r.replayDisks(), FS: detect.Auto,
						Rules: guard.RulesConfig{Engine: engine}}, zaptest.NewLogger(t))
				if err != nil {
					t.Fatal(err)
				}
				t.Logf("%d commits, %d records in %.3f s", sum.Commits, sum.Records, float64(sum.NS)/1e9)
				if sum.Outcome() != change.Holds || sum.Commits < 4 || sum.Records < 500 {
					t.Errorf("%+v", sum)
				}
			})
		}
	}
}
