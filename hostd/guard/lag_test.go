package guard_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sys/unix"

	"fsward/hostd/guard"
	"fsward/hostd/guardtest"
	"fsward/hostd/offline"
	"fsward/interp/detect"
)

// writeBack plays the flusher of the guest until done is closed: it writes the pages of the disks
// back that commits wait for, without a flush, or with one.
func writeBack(t *testing.T, r *guardtest.Rig, flush bool, done chan struct{}) {
	t.Helper()
	answered := 0
	for {
		select {
		case <-done:
			return
		case <-time.After(20 * time.Millisecond):
		}
		waiting := waits(r)
		for ; answered < len(waiting); answered++ {
			for i, name := range r.Daemon.Names() {
				if name == waiting[answered].Disk {
					continue
				}
				if err := writeBackDisk(r.LoopOf(i).LoopDev, flush); err != nil {
					t.Error(err)
				}
			}
		}
	}
}

func writeBackDisk(device string, flush bool) error {
	f, err := os.OpenFile(device, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	if flush {
		return f.Sync()
	}
	const how = unix.SYNC_FILE_RANGE_WRITE | unix.SYNC_FILE_RANGE_WAIT_AFTER
	return unix.SyncFileRange(int(f.Fd()), 0, 0, how)
}

// waits returns the events that say that a commit waits.
func waits(r *guardtest.Rig) (out []*guard.Event) {
	for _, ev := range r.Seen.Events() {
		if ev.Kind == guard.KindWaiting {
			out = append(out, ev)
		}
	}
	return out
}

// filledDisks makes a Btrfs on two disks with files in it.
func filledDisks(t *testing.T, profile string) []string {
	t.Helper()
	images := guardtest.MadeDisks(t, 2, 256<<20, "-O", "^extref", "-d", profile, "-m", profile)
	r := guardtest.AttachDisks(t, images, nil)
	r.MustMount("btrfs")
	r.MustRun(guardtest.Filled)
	if err := r.Unmount(); err != nil {
		t.Fatal(err)
	}
	r.End()
	return images
}

// TestCommitWaitsForADisk runs programs that commit to two unmounted disks and flush them one after
// the other. The commit waits for the disk that lags: until the guest flushes it, or until its
// pages were written back, when the guard flushes it. A replay of the recording agrees.
func TestCommitWaitsForADisk(t *testing.T) {
	for _, tc := range []struct {
		profile, tool string
		flush         bool
	}{
		{"raid1", "btrfstune -r", true},
		{"raid0", "btrfstune -r", false},
		{"raid1", "btrfs check --force --init-csum-tree", false}, // several commits
		{"raid0", "btrfs check --force --init-csum-tree", true},
		{"raid0", "btrfs filesystem label", true},
	} {
		t.Run(tc.profile+" "+tc.tool, func(t *testing.T) {
			images := filledDisks(t, tc.profile)
			dir := t.TempDir()
			var disks []offline.ReplayDisk
			r := guardtest.AttachDisks(t, images, func(c *guard.Config) {
				c.LagTimeout, c.Record = 2*time.Minute, dir+"/log"
				for _, d := range c.Disks {
					guardtest.Run(t, "cp", "--sparse=always", d.Path, dir+"/"+d.Name)
					disks = append(disks, offline.ReplayDisk{Name: d.Name, Base: dir + "/" + d.Name,
						Log: guard.RecordPath(*c, d.Name)})
				}
			})
			done, ended := make(chan struct{}), make(chan struct{})
			go func() {
				defer close(ended)
				writeBack(t, r, tc.flush, done)
			}()
			tool := tc.tool + " " + r.LoopDev
			if strings.HasSuffix(tc.tool, "label") {
				tool += " name"
			}
			out, err := r.Shell(t.Context(), tool)
			close(done)
			<-ended
			if err != nil {
				t.Errorf("%v: %s", err, out)
			}
			commits, waited := r.NoAlarm(), 0
			for _, ev := range r.Seen.Events() {
				if ev.Kind == guard.KindCommit && strings.Contains(ev.Note, "it has waited") {
					waited++
				}
			}
			if commits == 0 || waited == 0 || waited != len(waits(r)) {
				t.Errorf("%d commits, %d say that they waited, %d events about it", commits, waited,
					len(waits(r)))
			}
			r.End()
			guardtest.MustHold(t, images)
			replayed, err := offline.Replay(t.Context(), offline.ReplayConfig{Disks: disks,
				FS: detect.Auto}, zap.NewNop())
			if err != nil || replayed.Violated > 0 || int(replayed.Commits) != commits {
				t.Errorf("the replay: %+v, %v; want %d commits", replayed, err, commits)
			}
		})
	}
}

// TestDegradedMount mounts one of two guarded disks alone. The refusal of its first commit says
// that the guest does not write to the other disk.
func TestDegradedMount(t *testing.T) {
	images := filledDisks(t, "raid1")
	r := guardtest.AttachDisks(t, images, func(c *guard.Config) { c.LagTimeout = time.Second })
	guardtest.Run(t, "btrfs", "device", "scan", "--forget")
	if err := r.Mount("btrfs", "degraded"); err == nil {
		_, _ = r.Run(t.Context(), "echo one > one; sync -f .")
	}
	const note = "the guest has not written to disk disk1: it has mounted the array degraded"
	refused := 0
	for _, ev := range r.Seen.Events() {
		if ev.Kind == guard.KindCommit && ev.Action == guard.Refused {
			refused++
			if text := guardtest.TextOf(ev); !strings.Contains(text, note) {
				t.Errorf("refused: %s", text)
			}
		}
	}
	if refused != 1 || len(waits(r)) != 1 {
		t.Errorf("%d commits waited, %d were refused", len(waits(r)), refused)
	}
	_ = r.Unmount()
	r.End()
	guardtest.MustHold(t, images)
}
