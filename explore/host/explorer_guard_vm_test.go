//go:build vmtest

package host

import (
	"fmt"
	"testing"
	"time"

	"go.uber.org/zap"

	"fsward/change"
	"fsward/explore/agent"
	"fsward/explore/guest"
	"fsward/hostd/guard"
	"fsward/hostd/guardtest"
	"fsward/interp/detect"
)

// guardedDisks are the disks of the explorer's guest that a guard guards, by file system.
var guardedDisks = []struct {
	fs, name, device string
	mib              uint64
	bug              string // a field that the guard changes in a commit, which a rule then refuses
}{
	{"ext3", "disk1", "/dev/vdb", 48, "inode.links_count+1"},
	{"btrfs", "disk2", "/dev/vdc", 128, "inode_item.nlink+1@mode=0o100644"},
}

// guardDisks makes the disks and their guards.
func (r *explorerRig) guardDisks(t *testing.T, log *zap.Logger) (disks []*guest.Disk) {
	t.Helper()
	r.verdicts = &guardtest.Recorder{}
	cfg := guard.Config{FS: detect.Auto,
		Policies: guard.Policies{OnViolation: guard.OnRefuse}, Simulate: true,
		Sinks: []guard.Sink{r.verdicts}}
	for _, g := range guardedDisks {
		d, err := guest.NewDisk(guardtest.Blank(g.mib << 20))
		if err != nil {
			t.Fatal(err)
		}
		disks = append(disks, d)
		cfg.Disks = append(cfg.Disks, guard.DiskSpec{Name: g.name, Disk: d})
	}
	daemon, err := guard.Open(cfg, log)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := daemon.Close(); err != nil {
			t.Error(err)
		}
	})
	r.daemon = daemon
	return disks
}

// commits returns the generations of the commits of a disk from the n-th event on, and fails for
// events that do not hold.
func (r *explorerRig) commits(t *testing.T, n int, disk string) (generations []uint64) {
	t.Helper()
	for _, ev := range r.verdicts.Events()[n:] {
		if ev.Outcome != change.Holds {
			t.Errorf("%s", guardtest.TextOf(ev))
		}
		if ev.Disk == disk && ev.Kind == guard.KindCommit {
			generations = append(generations, ev.Generation)
		}
	}
	return generations
}

// guarded restores a guest to a checkpoint while it writes to guarded disks, and with it the disks
// and their guards. The guest's next commit must follow the checkpoint's last one, and hold. A
// refused commit must be undone in the same way.
func (r *explorerRig) guarded(t *testing.T) {
	for _, g := range guardedDisks {
		r.sh(t, fmt.Sprintf("mkfs.%s -q %s; mkdir -p /mnt/%[1]s", g.fs, g.device))
		r.sh(t, fmt.Sprintf("mount -t %s -o commit=1 %s /mnt/%[1]s", g.fs, g.device))
	}
	r.sh(t, `for d in ext3 btrfs; do
			(
				i=0
				while [ ! -e /tmp/stop ]; do
					i=$((i + 1))
					mkdir -p /mnt/$d/d$((i % 5))
					cp /bin/chrt /mnt/$d/d$((i % 5))/f$((i % 40))
					echo $i >>/mnt/$d/count
					[ $((i % 9)) != 0 ] || sync.coreutils -f /mnt/$d/count
				done
				: >/tmp/stopped.$d
			) >/dev/null 2>&1 &
		done`)
	r.awaitCommits(t)
	c, err := r.Save(r.ctx)
	if err != nil {
		t.Fatal(err)
	}
	first := r.awaitCommits(t)
	for range 3 {
		begin := time.Now()
		if err := r.Restore(r.ctx, c); err != nil {
			t.Fatal(err)
		}
		took := time.Since(begin)
		again := r.awaitCommits(t)
		t.Logf("restored in %v: commits %v, the first time %v", took.Round(time.Millisecond), again,
			first)
		for i, g := range guardedDisks {
			// The first commits after the checkpoint or the restore may come before awaitCommits begins to
			// count.
			if again[i][0] > first[i][len(first[i])-1] {
				t.Errorf("%s was restored, and commit %d is later than the first ones after the checkpoint, %v",
					g.fs, again[i][0], first[i])
			}
		}
	}
	r.refuseBugs(t)
	if err := r.Restore(r.ctx, c); err != nil {
		t.Fatal(err)
	}
	r.awaitCommits(t)
	r.checkGuardedDisks(t)
	if err := r.Drop(r.ctx, c); err != nil {
		t.Error(err)
	}
}

// awaitCommits waits until each guarded disk has had two more commits, and returns them.
func (r *explorerRig) awaitCommits(t *testing.T) (out [][]uint64) {
	t.Helper()
	n := len(r.verdicts.Events())
	for begin := time.Now(); time.Since(begin) < time.Minute &&
		!t.Failed(); time.Sleep(50 * time.Millisecond) {
		out = out[:0]
		enough := true
		for _, g := range guardedDisks {
			c := r.commits(t, n, g.name)
			out = append(out, c)
			enough = enough && len(c) >= 2
		}
		if enough {
			return out
		}
	}
	t.Fatalf("only the commits %v in a minute", out)
	return nil
}

// refuseBugs changes a field in a commit to each guarded disk, and waits until the guards have
// refused the commits.
func (r *explorerRig) refuseBugs(t *testing.T) {
	t.Helper()
	for _, g := range guardedDisks {
		if err := r.daemon.Simulator(g.name).Arm(g.bug); err != nil {
			t.Fatal(err)
		}
	}
	n := len(r.verdicts.Events())
	refused := func() bool {
		on := make(map[string]bool)
		for _, ev := range r.verdicts.Events()[n:] {
			on[ev.Disk] = on[ev.Disk] || ev.Kind == guard.KindCommit && ev.Action == guard.Refused
		}
		return on["disk1"] && on["disk2"]
	}
	for begin := time.Now(); !refused(); time.Sleep(50 * time.Millisecond) {
		if time.Since(begin) > time.Minute {
			t.Fatal("the guards did not refuse the changed commits within a minute")
		}
	}
}

// checkGuardedDisks ends the load, and checks that the disks are sound and hold the guest's files.
func (r *explorerRig) checkGuardedDisks(t *testing.T) {
	t.Helper()
	r.sh(t, `touch /tmp/stop
		until [ -e /tmp/stopped.ext3 ] && [ -e /tmp/stopped.btrfs ]; do sleep 0.1; done
		umount /mnt/ext3 /mnt/btrfs; rm /tmp/stop
		e2fsck -fn /dev/vdb >/dev/null; btrfs check /dev/vdc >/dev/null 2>&1`)
	for _, g := range guardedDisks {
		r.ok(t, agent.DropCaches(), agent.Mount(g.device, "/mnt/"+g.fs, g.fs, 0, ""))
		r.sh(t, fmt.Sprintf(`n=$(tail -n 1 /mnt/%s/count); seq $n | cmp - /mnt/%[1]s/count
			umount /mnt/%[1]s`, g.fs))
	}
}
