//go:build vmtest

package host

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/zap/zaptest"
	"golang.org/x/sys/unix"

	"fsward/blocktap"
	"fsward/blocktap/trace"
	"fsward/explore/agent"
	"fsward/explore/ramdisk"
	"fsward/hostd/guardtest"
	"fsward/hostd/offline"
	"fsward/interp/detect"
)

// logDisk is the RAM disk whose log is read.
const logDisk = 1

// bioLog checks the log of a RAM disk during a load, read through the agent: performed on the disk
// before the load, it gives the disk after the load, byte by byte, and fsward finds no violation.
func (r *explorerRig) bioLog(t *testing.T, fs string) {
	size := map[string]uint64{"ext3": 40 << 20, "btrfs": 112 << 20}[fs]
	dir := "/mnt/" + fs
	r.sh(t, "mkdir -p "+dir)
	r.ok(t, agent.DiskMake(logDisk, size))
	r.sh(t, map[string]string{"ext3": "mkfs.ext3 -q", "btrfs": "mkfs.btrfs -q"}[fs]+" /dev/fswrd1")
	base := filepath.Join(r.dir, fs+".base")
	final := filepath.Join(r.dir, fs+".final")
	log := filepath.Join(r.dir, fs+".log")
	begin := time.Now()
	r.fetch(t, logDisk, size, base)
	t.Logf("%s: %d MiB fetched in %.1f s", fs, size>>20, time.Since(begin).Seconds())

	w, err := trace.Create(log)
	if err != nil {
		t.Fatal(err)
	}
	read := r.startLogReader(w)
	ops := []agent.Op{agent.DiskLog(logDisk, true),
		agent.Mount("/dev/fswrd1", dir, fs, unix.MS_NOATIME, "")}
	ops = append(ops, loadOps(dir)...)
	begin = time.Now()
	d := r.ok(t, append(ops, agent.Close(0), agent.Unmount(dir, 0), agent.DiskLog(logDisk, false),
		agent.DiskMark(logEnd))...)
	got := <-read
	if got.err != nil {
		t.Fatal(got.err)
	}
	t.Logf("%s: %d operations in %.2f s in the guest; %d records with %d KiB of data, %d entries, "+
		"read after %.2f s", fs, len(ops), d.Took.Seconds(), got.records, got.bytes>>10, w.Entries(),
		time.Since(begin).Seconds())
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r.fetch(t, logDisk, size, final)
	r.ok(t, agent.DiskRemove(logDisk))

	sum, err := offline.Replay(r.ctx, offline.ReplayConfig{Disks: []offline.ReplayDisk{{Base: base,
		Log: log}}, FS: detect.Auto}, zaptest.NewLogger(t))
	if err != nil || sum.Commits == 0 || sum.Violated != 0 || sum.Undecided != 0 {
		t.Errorf("%s: replayed: %+v, %v", fs, sum, err)
	} else {
		t.Logf("%s: fsward replay: %d commits, no violation", fs, sum.Commits)
	}
	perform(t, base, log)
	mustBeSame(t, base, final)
	guardtest.MustBeClean(t, fs, final)
}

// logEnd is the mark at which the log reader ends.
const logEnd = "the end"

// logRead is the result of reading a log.
type logRead struct {
	records int
	bytes   uint64 // of data in the records
	err     error
}

// startLogReader starts a goroutine that converts the guest's log, up to logEnd, into a write log.
// The channel returns its result.
func (r *explorerRig) startLogReader(w *trace.Writer) <-chan logRead {
	done := make(chan logRead, 1)
	go func() {
		var read logRead
		in := ramdisk.NewReader(r.Log(r.ctx))
		conv := ramdisk.NewConverter(map[uint32]*trace.Writer{logDisk: w})
		for {
			rec, err := in.Next()
			if err == nil && rec.Type == ramdisk.Mark && string(rec.Data) == logEnd {
				done <- read
				return
			}
			if err == nil {
				read.records++
				read.bytes += uint64(len(rec.Data))
				err = conv.Add(rec)
			}
			if err != nil {
				read.err = err
				done <- read
				return
			}
		}
	}()
	return done
}

// loadOps returns operations that change many files of a file system, and sync some.
func loadOps(dir string) (ops []agent.Op) {
	for i := range 60 {
		d := fmt.Sprintf("%s/d%d", dir, i%7)
		if i < 7 {
			ops = append(ops, agent.Mkdir(d, 0o755))
		}
		f := fmt.Sprintf("%s/f%d", d, i)
		ops = append(ops, agent.Open(0, f, unix.O_CREAT|unix.O_RDWR, 0o644),
			agent.Fill(0, uint64(i*100), uint32(500*i), uint64(i)))
		switch i % 5 {
		case 0:
			ops = append(ops, agent.Fsync(0))
		case 1:
			ops = append(ops, agent.Rename(f, f+"r", 0))
		case 2:
			ops = append(ops, agent.Unlink(f))
		case 3:
			ops = append(ops, agent.Setxattr(f, "user.n", []byte(d), 0), agent.Link(f, f+"l"))
		case 4:
			ops = append(ops, agent.Truncate(f, uint64(i)), agent.Sync())
		}
	}
	return ops
}

// fetch writes the contents of a RAM disk to a new file.
func (r *explorerRig) fetch(t *testing.T, disk uint32, size uint64, path string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Truncate(int64(size)), r.ReadRAMDisk(r.ctx, disk, size, f),
		f.Close()); err != nil {
		t.Fatal(err)
	}
}

// perform performs a write log on an image.
func perform(t *testing.T, image, log string) {
	t.Helper()
	disk, err := blocktap.OpenFile(image, blocktap.FileOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer disk.Close()
	l, err := trace.Open(log)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	device := blocktap.NewDevice(disk, nil)
	for {
		e, err := l.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		q, ok := e.Request()
		if !ok {
			continue
		}
		if q.Op == blocktap.OpTrim { // a RAM disk reads zeros after a discard
			q.Op = blocktap.OpZero
		}
		if err := device.Do(t.Context(), &q); err != nil {
			t.Fatal(err)
		}
	}
}

// mustBeSame checks that two files are equal.
func mustBeSame(t *testing.T, a, b string) {
	t.Helper()
	if out, err := exec.Command("cmp", a, b).CombinedOutput(); err != nil {
		t.Errorf("the contents of the disk differ: %v %s", err, out)
	}
}
