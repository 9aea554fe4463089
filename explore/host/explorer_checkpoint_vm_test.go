//go:build vmtest

package host

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"fsward/explore/agent"
	"fsward/explore/guest"
	"fsward/hostd/guardtest"
)

// snapshot checks that a snapshot of a RAM disk that is being written to is one moment of it, and
// that a restore brings that moment back, whatever was written since.
func (r *explorerRig) snapshot(t *testing.T) {
	const disk, size = 2, 24 << 20
	r.sh(t, "mkdir -p /mnt/s")
	r.ok(t, agent.DiskMake(disk, size))
	r.sh(t, "mkfs.ext3 -q /dev/fswrd2")
	load := func(seconds int) {
		r.sh(t, fmt.Sprintf(`mount -t ext3 /dev/fswrd2 /mnt/s
			(
				i=0
				end=$(($(date +%%s) + %d))
				while [ $(date +%%s) -lt $end ]; do
					i=$((i + 1))
					echo $i >>/mnt/s/log
					cp /bin/mke2fs /mnt/s/f$((i %% 9))
					sync
				done
			) >/dev/null 2>&1 &
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
			t.Errorf("%d pages were restored, %d differ afterwards", d.Results[0].Value,
				d.Results[1].Value)
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
	// The snapshot is like the disk after a crash at that moment.
	guardtest.RecoverImage(t, "ext3", images[0])
	guardtest.MustBeClean(t, "ext3", images[0])
	r.ok(t, agent.DiskRemove(disk))
}

// checkpointAim bounds the time to save and to restore a guest of 160 MiB.
const checkpointAim = 500 * time.Millisecond

// checkpoint checks that a restored guest continues exactly from the checkpoint: its memory, its
// processes, its RAM disks and its disk.
func (r *explorerRig) checkpoint(t *testing.T) {
	r.startCounter(t)
	time.Sleep(500 * time.Millisecond)
	t.Logf("memory: %s", strings.Join(strings.Fields(r.sh(t, "head -n 3 /proc/meminfo")), " "))
	before := r.counts(t)
	var saves []time.Duration
	var kept []*guest.Checkpoint
	for range 3 {
		begin := time.Now()
		c, err := r.Save(r.ctx)
		if err != nil {
			t.Fatal(err)
		}
		saves, kept = append(saves, time.Since(begin)), append(kept, c)
	}
	restores := r.restoreCounter(t, kept[0], before)
	time.Sleep(300 * time.Millisecond)
	r.stopCounter(t)
	for _, c := range kept {
		if err := r.Drop(r.ctx, c); err != nil {
			t.Error(err)
		}
	}
	slices.Sort(saves)
	slices.Sort(restores)
	t.Logf("saving took %v, restoring %v, until the agent answers; the aim is %v", saves, restores,
		checkpointAim)
	// Only the best run counts, since other programs of this machine may interfere with the others. If
	// even the best run takes a multiple of the aim, the times are useless.
	if saves[0] > 4*checkpointAim || restores[0] > 4*checkpointAim {
		t.Errorf("saving takes %v and restoring %v at best, the aim is %v", saves[0], restores[0],
			checkpointAim)
	}
	r.saveWhileBusy(t)
}

// counterDirs are the folders in which the counter counts: in memory, on the disk, and on a RAM
// disk.
const counterDirs = "/tmp /mnt/v /mnt/r"

// startCounter starts a process that appends rising numbers to a file in each of counterDirs.
func (r *explorerRig) startCounter(t *testing.T) {
	t.Helper()
	r.sh(t, "mkdir -p /mnt/v /mnt/r; mkfs.ext3 -q /dev/vda")
	r.ok(t, agent.DiskMake(3, 16<<20))
	r.sh(t, `mkfs.ext3 -q /dev/fswrd3
		mount -t ext3 /dev/vda /mnt/v
		mount -t ext3 /dev/fswrd3 /mnt/r
		(
			i=0
			while [ ! -e /tmp/stop ]; do
				i=$((i + 1))
				for d in `+counterDirs+`; do echo $i >>$d/count; done
			done
		) >/dev/null 2>&1 &
		echo $! >/tmp/counter
		# The counter writes this file last.
		while [ ! -s /mnt/r/count ]; do sleep 0.1; done`)
}

// counts returns the last number in each of counterDirs.
func (r *explorerRig) counts(t *testing.T) (out []int) {
	t.Helper()
	text := r.sh(t, "for d in "+counterDirs+"; do tail -n 1 $d/count; done")
	for _, s := range strings.Fields(text) {
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

// uptime returns the guest's uptime in seconds.
func (r *explorerRig) uptime(t *testing.T) (seconds float64) {
	t.Helper()
	if _, err := fmt.Sscan(r.sh(t, "cat /proc/uptime"), &seconds); err != nil {
		t.Fatal(err)
	}
	return seconds
}

// restoreCounter lets the guest write and count on, restores it to c four times, and checks each
// time that it is back at the checkpoint. before are the counts shortly before c. It returns the
// times that the restores took.
func (r *explorerRig) restoreCounter(t *testing.T, c *guest.Checkpoint,
	before []int) (restores []time.Duration) {
	t.Helper()
	r.sh(t, `sync; echo junk >/tmp/junk; echo junk >/mnt/v/junk
		dd if=/dev/urandom of=/mnt/v/big bs=64k count=64 2>/dev/null; sync`)
	for r.counts(t)[0] < before[0]+5000 { // more than it counts between a restore and counts
		time.Sleep(200 * time.Millisecond)
	}
	after := r.counts(t)
	late := r.uptime(t)
	for range 4 {
		begin := time.Now()
		if err := r.Restore(r.ctx, c); err != nil {
			t.Fatal(err)
		}
		restores = append(restores, time.Since(begin))
		now := r.counts(t)
		for i := range now {
			if now[i] < before[i] || now[0]-now[i] > 2 || now[i] >= after[i] {
				t.Errorf("the counts are %v; before the checkpoint they were %v, and at the end %v", now,
					before, after)
			}
		}
		r.sh(t, "test ! -e /tmp/junk; test ! -e /mnt/v/junk; test ! -e /mnt/v/big")
	}
	if now := r.uptime(t); now >= late {
		t.Errorf("the guest was restored, and its clock was not: it was at %.1f s and is at %.1f s", late,
			now)
	}
	return restores
}

// stopCounter ends the counter. It checks that no number is missing, in memory or read again from
// the disks, and that the disks are sound.
func (r *explorerRig) stopCounter(t *testing.T) {
	t.Helper()
	r.sh(t, `touch /tmp/stop; while [ -d /proc/$(cat /tmp/counter) ]; do sleep 0.1; done
		umount /mnt/v /mnt/r; e2fsck -fn /dev/vda >/dev/null; e2fsck -fn /dev/fswrd3 >/dev/null
		echo 3 >/proc/sys/vm/drop_caches
		mount -t ext3 /dev/vda /mnt/v; mount -t ext3 /dev/fswrd3 /mnt/r
		n=$(tail -n 1 /tmp/count); seq $n >/tmp/want
		for d in `+counterDirs+`; do cmp $d/count /tmp/want; done
		umount /mnt/v /mnt/r; rm /tmp/stop /tmp/count /tmp/want`)
	r.ok(t, agent.DiskRemove(3))
}

// saveWhileBusy checks that a checkpoint is refused while a request is in progress, since the
// checkpoint would interrupt it.
func (r *explorerRig) saveWhileBusy(t *testing.T) {
	t.Helper()
	done := make(chan error, 1)
	go func() {
		_, err := r.Run(r.ctx, agent.Command{Args: []string{"sleep", "1"}, Timeout: time.Minute})
		done <- err
	}()
	time.Sleep(200 * time.Millisecond)
	if _, err := r.Save(r.ctx); !errors.Is(err, agent.ErrBusy) {
		t.Errorf("a checkpoint while a request is in progress: %v", err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}
