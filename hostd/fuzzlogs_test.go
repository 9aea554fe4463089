package hostd

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/zap/zaptest"

	"fsward/change"
	"fsward/interp/detect"
)

var recordLogs = flag.Bool("record", false, "record testdata/logs again, with the host's kernel (inputs of fuzzing that were kept mean other changes then)")

// A fuzzLog is a log of a real kernel's writes in testdata/logs, NAME.base.zst and NAME.log.zst: small, so
// that it is replayed in milliseconds, and with much variety.
type fuzzLog struct {
	name   string
	fs     string
	size   int64
	mkfs   []string
	script string
}

var fuzzLogs = []fuzzLog{
	{"btrfs", "btrfs", 128 << 20, []string{"-n", "4096", "-m", "dup", "-d", "single", "-R", "quota"}, fuzzFiles + `
		btrfs -q subvolume create sub; cp --reflink=always regular sub/copy
		for i in 1 2 3; do echo $i >> d/log; sync d/log; done
		btrfs -q subvolume snapshot sub snap
		printf y | dd of=sub/copy bs=4k seek=2 conv=notrunc status=none; rm regular d/name1*; mv d/link e
		sync -f .
		btrfs -q subvolume delete snap; truncate -s 4k sub/copy; touch orphan; exec 3< orphan; rm orphan
		sync -f .`},
	{"ext3", "ext3", 8 << 20, []string{"-b", "1024", "-J", "size=1", "-I", "256"}, fuzzFiles + `
		printf y | dd of=regular bs=4k seek=2 conv=notrunc status=none; rm d/name1*; mv d/link e
		touch orphan; exec 3< orphan; rm orphan
		sync -f .
		rm regular; truncate -s 4k large; mkdir f; mv d f/; rm -r f
		sync -f .`},
}

// fuzzFiles is what the scripts begin with. Contents compress well.
const fuzzFiles = `
		echo one > inline; head -c 20000 /dev/zero | tr '\0' a > regular
		for i in 0 1 100 300 3000; do echo $i | dd of=large bs=1k seek=$i conv=notrunc status=none; done
		mkdir d; ln inline d/link; ln -s inline soft; mkfifo pipe; setfattr -n user.a -v x inline; setfattr -n user.b -v "$(head -c 300 /dev/zero | tr '\0' x)" regular
		for i in $(seq 60); do echo $i > d/name$i-$(head -c 40 /dev/zero | tr '\0' n); done
		truncate -s 1M sparse; printf x | dd of=sparse bs=4k seek=100 conv=notrunc status=none
		fallocate -l 64k prealloc 2> /dev/null || true
		sync -f .`

func (r fuzzLog) base() string { return filepath.Join("testdata", "logs", r.name+".base.zst") }
func (r fuzzLog) log() string  { return filepath.Join("testdata", "logs", r.name+".log.zst") }

// record makes the files of a recording.
func (r fuzzLog) record(t *testing.T) {
	image := mkfs(t, r.fs, r.size, r.mkfs...)
	made := recordOn(t, r.fs, image, r.script)
	mustBeClean(t, r.fs, image)
	run(t, "zstd", "-19", "-q", "-f", "--no-check", made.base, "-o", r.base())
	run(t, "zstd", "-19", "-q", "-f", "--no-check", made.log, "-o", r.log())
}

// What is recorded holds, commit by commit, on both engines.
func TestFuzzLogs(t *testing.T) {
	for _, r := range fuzzLogs {
		if *recordLogs {
			r.record(t)
		}
		for _, engine := range Engines {
			t.Run(r.name+" "+engine, func(t *testing.T) {
				sum, err := Replay(context.Background(), ReplayConfig{Disks: []ReplayDisk{{Base: r.base(), Log: r.log()}}, FS: detect.Auto, Rules: RulesConfig{Engine: engine}}, zaptest.NewLogger(t))
				if err != nil {
					t.Fatal(err)
				}
				base, _ := os.Stat(r.base())
				log, _ := os.Stat(r.log())
				t.Logf("%d commits, %d records in %.3f s; %d and %d bytes", sum.Commits, sum.Records, float64(sum.NS)/1e9, base.Size(), log.Size())
				if sum.Outcome() != change.Holds || sum.Commits < 4 || sum.Records < 500 {
					t.Errorf("%+v", sum)
				}
			})
		}
	}
}
