//go:build vmtest

package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap/zaptest"
	"golang.org/x/sys/unix"

	"fsward/blocktap"
	"fsward/blocktap/trace"
	"fsward/explore/agent"
	"fsward/explore/guest"
	"fsward/explore/ramdisk"
	"fsward/hostd/guardtest"
	"fsward/hostd/offline"
	"fsward/interp/detect"
)

// log reads a RAM disk's log of a load through the agent. On the disk before, it gives the disk
// after, byte by byte, and fsward judges it.
func (r *explorerRig) log(t *testing.T, fs string) {
	const disk = 1
	size := map[string]uint64{"ext3": 40 << 20, "btrfs": 112 << 20}[fs]
	dir := "/mnt/" + fs
	r.sh(t, "mkdir -p "+dir)
	r.ok(t, agent.DiskMake(disk, size))
	r.sh(t, map[string]string{"ext3": "mkfs.ext3 -q", "btrfs": "mkfs.btrfs -q"}[fs]+" /dev/fswrd1")
	base, final, logFile := filepath.Join(r.dir, fs+".base"), filepath.Join(r.dir,
		fs+".final"), filepath.Join(r.dir, fs+".log")
	begin := time.Now()
	r.fetch(t, disk, size, base)
	t.Logf("%s: %d MiB fetched in %.1f s", fs, size>>20, time.Since(begin).Seconds())

	w, err := trace.Create(logFile)
	if err != nil {
		t.Fatal(err)
	}
	records, logged := 0, uint64(0)
	read := make(chan error, 1)
	go func() {
		in := ramdisk.NewReader(r.Log(r.ctx))
		conv := ramdisk.NewConverter(map[uint32]*trace.Writer{disk: w})
		for {
			rec, err := in.Next()
			if err == nil && rec.Type == ramdisk.Mark && string(rec.Data) == "the end" {
				read <- nil
				return
			}
			if err == nil {
				records, logged = records+1, logged+uint64(len(rec.Data))
				err = conv.Add(rec)
			}
			if err != nil {
				read <- err
				return
			}
		}
	}()
	ops := []agent.Op{agent.DiskLog(disk, true),
		agent.Mount("/dev/fswrd1", dir, fs, unix.MS_NOATIME, "")}
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
	begin = time.Now()
	d := r.ok(t, append(ops, agent.Close(0), agent.Unmount(dir, 0), agent.DiskLog(disk, false),
		agent.DiskMark("the end"))...)
	if err := <-read; err != nil {
		t.Fatal(err)
	}
	t.Logf("%s: %d operations in %.2f s in the guest; %d records with %d KiB of data read after %.2f s, %d entries", fs, len(ops), d.Took.Seconds(),
		records, logged>>10, time.Since(begin).Seconds(), w.Entries())
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r.fetch(t, disk, size, final)
	r.ok(t, agent.DiskRemove(disk))

	sum, err := offline.Replay(r.ctx, offline.ReplayConfig{Disks: []offline.ReplayDisk{{Base: base,
		Log: logFile}}, FS: detect.Auto}, zaptest.NewLogger(t))
	if err != nil || sum.Commits == 0 || sum.Violated != 0 || sum.Undecided != 0 {
		t.Errorf("%s: replayed: %+v, %v", fs, sum, err)
	} else {
		t.Logf("%s: fsward replay: %d commits, none violated", fs, sum.Commits)
	}
	perform(t, base, logFile)
	mustBeSame(t, base, final)
	guardtest.MustBeClean(t, fs, final)
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

// perform performs a log on an image.
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
		if q.Op == blocktap.OpTrim { // this disk reads zeros
			q.Op = blocktap.OpZero
		}
		if err := device.Do(t.Context(), &q); err != nil {
			t.Fatal(err)
		}
	}
}

func mustBeSame(t *testing.T, a, b string) {
	t.Helper()
	if out, err := exec.Command("cmp", a, b).CombinedOutput(); err != nil {
		t.Errorf("the disk is not the one it should be: %v %s", err, out)
	}
}

// snapshot checks that a snapshot of a RAM disk that is being written to is one moment of it, and
// that a restore brings that moment back, whatever was written since.
func (r *explorerRig) snapshot(t *testing.T) {
	const disk, size = 2, 24 << 20
	r.sh(t, "mkdir -p /mnt/s")
	r.ok(t, agent.DiskMake(disk, size))
	r.sh(t, "mkfs.ext3 -q /dev/fswrd2")
	load := func(seconds int) {
		r.sh(t, fmt.Sprintf(`mount -t ext3 /dev/fswrd2 /mnt/s
			(i=0; end=$(($(date +%%s) + %d)); while [ $(date +%%s) -lt $end ]; do i=$((i + 1)); echo $i >>/mnt/s/log; cp /bin/mke2fs /mnt/s/f$((i %% 9)); sync; done) >/dev/null 2>&1 &
			echo $! >/tmp/load`, seconds))
	}
	load(4)
	time.Sleep(time.Second)
	before := r.ok(t, agent.DiskSnapshot(disk, "moment"), agent.Readdir("/mnt/s"))
	time.Sleep(time.Second)
	r.sh(t, "while [ -d /proc/$(cat /tmp/load) ]; do sleep 0.1; done; umount /mnt/s")
	if before.Results[1].Value < 4 {
		t.Errorf("no load ran when the snapshot was made: %q", before.Results[1].Data)
	}
	var images []string
	for i := range 2 {
		d := r.ok(t, agent.DiskRestore(disk, "moment"), agent.DiskChanged(disk, "moment"),
			agent.DiskForget(disk))
		if d.Results[0].Value == 0 || d.Results[1].Value != 0 {
			t.Errorf("%d pages were put back, %d differ afterwards", d.Results[0].Value, d.Results[1].Value)
		}
		images = append(images, filepath.Join(r.dir, fmt.Sprintf("moment%d", i)))
		r.fetch(t, disk, size, images[i])
		t.Logf("restored %d pages, with the agent's overhead in %v", d.Results[0].Value,
			d.Took.Round(10*time.Microsecond))
		if i == 0 {
			load(1)
			r.sh(t, "while [ -d /proc/$(cat /tmp/load) ]; do sleep 0.1; done; umount /mnt/s")
		}
	}
	mustBeSame(t, images[0], images[1])
	// It is what a crash would have left.
	guardtest.RecoverImage(t, "ext3", images[0])
	guardtest.MustBeClean(t, "ext3", images[0])
	r.ok(t, agent.DiskRemove(disk))
}

// checkpointAim bounds the time to save and to restore a guest of 128 MiB.
const checkpointAim = 500 * time.Millisecond

// checkpoint checks that a guest that is put back goes on exactly from the checkpoint: its memory,
// its processes, its RAM disks and its disk.
func (r *explorerRig) checkpoint(t *testing.T) {
	// One process counts in memory, in a RAM disk's file system, and on the disk.
	r.sh(t, "mkdir -p /mnt/v /mnt/r; mkfs.ext3 -q /dev/vda")
	r.ok(t, agent.DiskMake(3, 16<<20))
	r.sh(t, `mkfs.ext3 -q /dev/fswrd3; mount -t ext3 /dev/vda /mnt/v; mount -t ext3 /dev/fswrd3 /mnt/r
		(i=0; while [ ! -e /tmp/stop ]; do i=$((i + 1)); for d in /tmp /mnt/v /mnt/r; do echo $i >>$d/count; done; done) >/dev/null 2>&1 &
		echo $! >/tmp/counter
		while [ ! -s /mnt/r/count ]; do sleep 0.1; done`) // the last of the three: each has a number
	counts := func() (out []int) {
		for _, s := range strings.Fields(r.sh(t, "for d in /tmp /mnt/v /mnt/r; do tail -n 1 $d/count; done")) {
			n := 0
			if _, err := fmt.Sscan(s, &n); err != nil {
				t.Fatal(err)
			}
			out = append(out, n)
		}
		if len(out) != 3 {
			t.Fatalf("%d counts", len(out))
		}
		return out
	}
	time.Sleep(500 * time.Millisecond)
	t.Logf("memory: %s", strings.Join(strings.Fields(r.sh(t, "head -n 3 /proc/meminfo")), " "))
	before := counts()
	var saves, restores []time.Duration
	var kept []*guest.Checkpoint
	for range 3 {
		begin := time.Now()
		c, err := r.Save(r.ctx)
		if err != nil {
			t.Fatal(err)
		}
		saves, kept = append(saves, time.Since(begin)), append(kept, c)
	}
	c := kept[0]
	r.sh(t, "sync; echo junk >/tmp/junk; echo junk >/mnt/v/junk; dd if=/dev/urandom of=/mnt/v/big bs=64k count=64 2>/dev/null; sync")
	for counts()[0] < before[0]+5000 { // more than is counted between a restore and a query
		time.Sleep(200 * time.Millisecond)
	}
	after := counts()
	uptime := func() (seconds float64) {
		if _, err := fmt.Sscan(r.sh(t, "cat /proc/uptime"), &seconds); err != nil {
			t.Fatal(err)
		}
		return seconds
	}
	late := uptime()
	// The first moment after the checkpoint, twice.
	for range 4 {
		begin := time.Now()
		if err := r.Restore(r.ctx, c); err != nil {
			t.Fatal(err)
		}
		restores = append(restores, time.Since(begin))
		now := counts()
		for i := range now {
			if now[i] < before[i] || now[0]-now[i] > 2 || now[i] >= after[i] {
				t.Errorf("the counts are %v; before the checkpoint they were %v, and at the end %v", now,
					before, after)
			}
		}
		r.sh(t, "test ! -e /tmp/junk; test ! -e /mnt/v/junk; test ! -e /mnt/v/big")
	}
	if now := uptime(); now >= late {
		t.Errorf("the guest was put back, and its clock was not: it was at %.1f s and is at %.1f s", late,
			now)
	}
	time.Sleep(300 * time.Millisecond)
	// No number is missing, in memory or, read again, from the disks, and the disks are sound.
	r.sh(t, `touch /tmp/stop; while [ -d /proc/$(cat /tmp/counter) ]; do sleep 0.1; done
		umount /mnt/v /mnt/r; e2fsck -fn /dev/vda >/dev/null; e2fsck -fn /dev/fswrd3 >/dev/null
		echo 3 >/proc/sys/vm/drop_caches; mount -t ext3 /dev/vda /mnt/v; mount -t ext3 /dev/fswrd3 /mnt/r
		n=$(tail -n 1 /tmp/count); seq $n >/tmp/want; for d in /tmp /mnt/v /mnt/r; do cmp $d/count /tmp/want; done
		umount /mnt/v /mnt/r; rm /tmp/stop /tmp/count /tmp/want`)
	r.ok(t, agent.DiskRemove(3))
	for _, c := range kept {
		if err := r.Drop(r.ctx, c); err != nil {
			t.Error(err)
		}
	}
	slices.Sort(saves)
	slices.Sort(restores)
	t.Logf("saving took %v, restoring %v, until the agent answers; the aim is %v", saves, restores,
		checkpointAim)
	// The best of several runs counts, since other programs of this machine may interfere. If they
	// always do, a run takes so long that the figure is useless.
	if saves[0] > 4*checkpointAim || restores[0] > 4*checkpointAim {
		t.Errorf("saving takes %v and restoring %v at best, the aim is %v", saves[0], restores[0],
			checkpointAim)
	}
	// Requests in flight delay a checkpoint, which would cut them.
	done := make(chan error, 1)
	go func() {
		_, err := r.Run(r.ctx, agent.Command{Args: []string{"sleep", "1"}, Timeout: time.Minute})
		done <- err
	}()
	time.Sleep(200 * time.Millisecond)
	if _, err := r.Save(r.ctx); !errors.Is(err, agent.ErrBusy) {
		t.Errorf("a checkpoint while a request is under way: %v", err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// failsAs waits for a failure.
func (r *explorerRig) failsAs(t *testing.T, kind guest.FailureKind) *guest.Failure {
	t.Helper()
	select {
	case <-r.Failed():
	case <-time.After(time.Minute):
		t.Fatalf("no failure is seen, expected: %s", kind)
	}
	f := r.Failure()
	if f.Kind != kind {
		t.Fatalf("%v, expected: %s", f, kind)
	}
	return f
}

// restored puts the guest back and checks that it works.
func (r *explorerRig) restored(t *testing.T, c *guest.Checkpoint) {
	t.Helper()
	begin := time.Now()
	if err := r.Restore(r.ctx, c); err != nil {
		t.Fatal(err)
	}
	if r.Failure() != nil {
		t.Error("the guest that was put back has failed")
	}
	if got := r.sh(t, "cat /tmp/kept"); got != "kept\n" {
		t.Errorf("the guest that was put back has %q", got)
	}
	t.Logf("put back and working after %v", time.Since(begin).Round(time.Millisecond))
}

// late is how long a failure that should show within a second may take on a busy host. The actual
// time is logged.
const late = 10 * time.Second

// hang checks that a guest in which only one process still runs is reported to hang, within a
// second in which it could have answered.
func (r *explorerRig) hang(t *testing.T) {
	r.sh(t, "echo kept >/tmp/kept")
	c, err := r.Save(r.ctx)
	if err != nil {
		t.Fatal(err)
	}
	// The only processor, in real time and without the kernel's limits for that: since 6.12 the fair
	// server is one.
	r.sh(t, `echo -1 >/proc/sys/kernel/sched_rt_runtime_us
		grep -q /sys/kernel/debug /proc/mounts || mount -t debugfs debugfs /sys/kernel/debug
		for f in /sys/kernel/debug/sched/fair_server/cpu*/runtime; do [ ! -e $f ] || echo 0 >$f; done
		(sleep 0.3; echo '<0>spinning' >/dev/kmsg; exec chrt -f 99 sh -c 'while :; do :; done') >/dev/null 2>&1 &`)
	r.con.wait(t, "spinning")
	r.SetSilence(800 * time.Millisecond)
	f := r.failsAs(t, guest.Hung)
	t.Logf("seen %v after the last sign of life: silent for %v of that",
		r.con.since(t, "spinning").Round(time.Millisecond), f.Silent.Round(time.Millisecond))
	if f.Silent <= 0 || f.Silent > late {
		t.Errorf("the guest was silent for %v", f.Silent)
	}
	if !slices.ContainsFunc(f.Console, func(s string) bool {
		return strings.Contains(s,
			"spinning")
	}) {
		t.Errorf("the console's last lines are %q", f.Console)
	}
	var failure *guest.Failure
	if _, err := r.Run(r.ctx, agent.Command{Args: []string{"true"}, Timeout: time.Second}); !errors.As(
		err, &failure) || failure.Kind != guest.Hung {
		t.Errorf("a command in a guest that hangs: %v", err)
	}
	r.SetSilence(20 * time.Second)
	r.restored(t, c)
	if err := r.Drop(r.ctx, c); err != nil {
		t.Error(err)
	}
}

// panics checks that a panic ends the operation in progress within a second, with the kernel's
// messages.
func (r *explorerRig) panics(t *testing.T) {
	c, err := r.Save(r.ctx)
	if err != nil {
		t.Fatal(err)
	}
	_, err = r.Run(r.ctx, agent.Command{Args: []string{"sh", "-c", "echo c >/proc/sysrq-trigger"},
		Timeout: time.Minute})
	took := r.con.since(t, "Kernel panic")
	var failure *guest.Failure
	if !errors.As(err, &failure) || failure.Kind != guest.Panicked {
		t.Fatalf("what is under way ends with %v", err)
	}
	t.Logf("seen %v after the line; %d lines of the console, %q", took.Round(time.Millisecond),
		len(failure.Console), failure.Text)
	if took > late {
		t.Errorf("a panic was seen after %v", took)
	}
	for _, text := range []string{"sysrq", "Call Trace", "Kernel panic - not syncing"} {
		if !slices.ContainsFunc(failure.Console, func(s string) bool {
			return strings.Contains(s,
				text)
		}) {
			t.Errorf("the console's last lines do not have %q:\n%s", text,
				strings.Join(failure.Console, "\n"))
		}
	}
	r.restored(t, c)
}

// gone checks that a guest that ends is gone within a second, and is not put back.
func (r *explorerRig) gone(t *testing.T) {
	c, err := r.Save(r.ctx)
	if err != nil {
		t.Fatal(err)
	}
	_, err = r.Run(r.ctx, agent.Command{Args: []string{"poweroff", "-nf"}, Timeout: time.Minute})
	var failure *guest.Failure
	if !errors.As(err, &failure) && !errors.Is(err, agent.ErrClosed) {
		t.Errorf("what is under way ends with %v", err)
	}
	begin := time.Now()
	_ = r.failsAs(t, guest.Gone)
	if took := time.Since(begin); took > late {
		t.Errorf("that the guest is gone was seen %v after its connection ended", took)
	}
	if err := r.Restore(context.Background(), c); !errors.As(err, &failure) {
		t.Errorf("a guest that is gone is put back: %v", err)
	}
}
