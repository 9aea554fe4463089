package guard_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"fsward/blocktap"
	"fsward/change"
	"fsward/hostd/guard"
	"fsward/hostd/guardtest"
	"fsward/hostd/offline"
	"fsward/interp/detect"
)

// baselineOf waits for the check of the baseline of the first disk and returns its event.
func baselineOf(r *guardtest.Rig, within time.Duration) *guard.Event {
	r.T.Helper()
	return baselineOn(r, 0, within)
}

// baselineOn waits for the check of the baseline of a disk and returns the last event of one.
func baselineOn(r *guardtest.Rig, disk int, within time.Duration) *guard.Event {
	r.T.Helper()
	p := r.Daemon.BaselineCheckOf(disk)
	if p == nil {
		r.T.Fatal("no check of the baseline was begun")
	}
	select {
	case <-p.Ended():
	case <-time.After(within):
		r.T.Fatalf("the check of the baseline is not done after %s: %s", within,
			r.Daemon.Status()[disk].Baseline)
	}
	var found *guard.Event
	for _, ev := range r.Seen.Events() {
		if ev.Kind == guard.KindBaseline {
			found = ev
		}
	}
	if found == nil {
		r.T.Fatal("the check of the baseline ended without a report")
	}
	return found
}

func verify(c *guard.Config) { c.Verify = true }

// populated makes an image with many files.
func populated(t *testing.T, fs string, size int64, dirs, files int) string {
	t.Helper()
	return guardtest.Mkfs(t, fs, size, map[string]string{"btrfs": "--rootdir", "ext3": "-d"}[fs],
		tree(t, dirs, files))
}

// beside is a load that removes files of the first state and makes others.
const beside = `
	rm -rf dir%[1]d
	for i in 1 2 3; do
		mkdir -p new%[1]d.$i
		for j in $(seq 40); do echo $j > new%[1]d.$i/f$j; done
		sync -f .
	done`

// TestBaselineBesideALoad checks that the check of a baseline finishes on the state of its
// beginning while a real load goes on, and that neither the check nor a commit raises a false
// alarm.
func TestBaselineBesideALoad(t *testing.T) {
	for _, fs := range []string{"btrfs", "ext3"} {
		t.Run(fs, func(t *testing.T) {
			image := populated(t, fs, 512<<20, 20, 400)
			r := guardtest.Attach(t, image, verify)
			r.MustMount(fs)
			for n := 0; n < 2 || r.Daemon.Status()[0].Baseline.Phase != guard.PhaseDone && n < 10; n++ {
				r.MustRun(fmt.Sprintf(beside, n))
			}
			ev := baselineOf(r, 2*time.Minute)
			if ev.Outcome != change.Holds || ev.Records == 0 {
				t.Errorf("the baseline: %s", guardtest.TextOf(ev))
			}
			r.NoAlarm()
			commits := 0
			for _, ev := range r.Seen.Events() {
				if ev.Kind == guard.KindBaseline {
					break
				}
				if ev.Kind == guard.KindCommit {
					commits++
				}
			}
			status := r.Daemon.Status()[0].Baseline
			if commits < 2 || status.KeptB == 0 {
				t.Errorf("the check was to run beside commits that rewrite what it reads: %d commits, %+v",
					commits, *status)
			}
			t.Logf("%d records in %s, %d commits beside it, %d bytes kept", ev.Records,
				time.Duration(ev.CheckNS), commits, status.KeptB)
			line, err := json.Marshal(ev)
			if err != nil || !strings.HasPrefix(string(line),
				`{"event":"baseline","disk":"disk","fs":"`+fs+`"`) {
				t.Errorf("as JSON: %s (%v)", line, err)
			}
			r.End()
			guardtest.MustBeClean(t, fs, image)
		})
	}
}

// TestBaselineFindsWhatWasThere checks that the check of the baseline finds a fault from before the
// guard, in all its copies, while commits that do not concern the fault pass.
func TestBaselineFindsWhatWasThere(t *testing.T) {
	for _, tc := range []struct {
		fs, rule string
		plant    func(t *testing.T, image string)
	}{
		{"btrfs", "btrfs/14", func(t *testing.T, image string) {
			done, err := offline.CorruptImages([]string{image},
				offline.CorruptConfig{FS: "btrfs", Spec: "inode_item.nlink+1@mode=0o100644", Pick: 1950})
			if err != nil {
				t.Fatal(err)
			}
			t.Log(done.What)
		}},
		{"ext3", "ext3/7", func(t *testing.T, image string) {
			guardtest.Run(t, "debugfs", "-w", "-R", "set_inode_field /dir19/a-file-7 links_count 3", image)
		}},
	} {
		t.Run(tc.fs, func(t *testing.T) {
			image := populated(t, tc.fs, 512<<20, 20, 100)
			tc.plant(t, image)
			r := guardtest.Attach(t, image, verify)
			r.MustMount(tc.fs)
			r.MustRun(fmt.Sprintf(beside, 0))
			ev := baselineOf(r, 2*time.Minute)
			if ev.Outcome != change.Violated || len(ev.Violations) != 1 || ev.Violations[0].Rule != tc.rule {
				t.Errorf("the baseline: %s", guardtest.TextOf(ev))
			}
			r.MustRun(fmt.Sprintf(beside, 1))
			commits := 0
			for _, ev := range r.Seen.Events() {
				if ev.Kind == guard.KindBaseline {
					continue
				}
				if ev.Kind == guard.KindCommit {
					commits++
				}
				if ev.Outcome != change.Holds {
					t.Errorf("besides the baseline: %s", guardtest.TextOf(ev))
				}
			}
			if commits < 6 {
				t.Errorf("%d commits, want 6 at least", commits)
			}
			if got := r.Daemon.Outcome(); got != change.Violated {
				t.Errorf("the daemon's outcome is %s", got)
			}
			t.Log(guardtest.TextOf(ev))
		})
	}
}

// TestBaselineInterrupted checks that a daemon that stops during the check reports that, and that
// the next one starts the check again.
func TestBaselineInterrupted(t *testing.T) {
	image := populated(t, "btrfs", 512<<20, 20, 100)
	r := guardtest.Attach(t, image, verify)
	p := r.Daemon.BaselineCheckOf(0)
	r.End()
	if s := p.Status(); s.Phase != guard.PhaseInterrupted {
		t.Fatalf("after the end: %+v", s)
	}
	last := r.Seen.Events()[len(r.Seen.Events())-1]
	if last.Kind != guard.KindNote || !strings.Contains(last.Note, "interrupted at") {
		t.Errorf("the last event is %s", guardtest.TextOf(last))
	}
	again := guardtest.Attach(t, image, verify)
	if ev := baselineOf(again, 2*time.Minute); ev.Outcome != change.Holds {
		t.Errorf("the second time: %s", guardtest.TextOf(ev))
	}
}

// TestBaselineOutrun checks that the check starts again when the guest overwrites more than is
// kept, that it is undecided in the end, and that it is then made again until it decides.
func TestBaselineOutrun(t *testing.T) {
	for _, tc := range []struct {
		times     int // attempts that the guest outruns
		undecided int // the events that say so
	}{{guard.MaxAttempts - 1, 0}, {guard.MaxAttempts, 1}} {
		r := guardtest.Attach(t, populated(t, "btrfs", 256<<20, 10, 100), nil)
		begun := overwritten(t, r.Daemon, tc.times)
		ev := baselineOf(r, 2*time.Minute)
		if ev.Outcome != change.Holds || *begun < tc.times {
			t.Errorf("overwritten %d times: %s", *begun, guardtest.TextOf(ev))
		}
		found := 0
		for _, ev := range r.Seen.Events() {
			if ev.Kind == guard.KindBaseline && ev.Outcome == change.Undecided {
				found++
				if !strings.Contains(guardtest.TextOf(ev), guard.ErrMoved.Error()) {
					t.Errorf("it does not say why: %s", guardtest.TextOf(ev))
				}
			}
		}
		if s := r.Daemon.Status()[0].State; found != tc.undecided || s != guard.StateGuarded {
			t.Errorf("%d undecided, want %d; the volume is %s", found, tc.undecided, s)
		}
		r.End()
	}
}

// TestBaselineOfAHalfWrittenDisk checks that a state between two writes of a program that tests the
// disk of an unmounted ext3 (e2fsck -cc) or restores an image is no finding: the check is repeated.
func TestBaselineOfAHalfWrittenDisk(t *testing.T) {
	const at, length = 264 << 10, 16 << 10 // in the inode table of the first group
	r := guardtest.Attach(t, populated(t, "ext3", 64<<20, 20, 200), verify)
	<-r.Daemon.BaselineCheckOf(0).Ended()
	device := r.Daemon.Devices()["disk"]
	write := func(data []byte) {
		t.Helper()
		if err := device.Do(t.Context(), &blocktap.Request{Op: blocktap.OpWrite, Off: at, Len: length,
			Data: data}); err != nil {
			t.Fatal(err)
		}
	}
	was := make([]byte, length)
	readAt(t, r.Image, was, at)
	write(bytes.Repeat([]byte{0x5a}, length))
	release := r.Daemon.SlowChecks()
	r.Daemon.BeginBaseline()
	write(was)
	release()
	if ev := baselineOf(r, time.Minute); ev.Outcome != change.Holds {
		t.Errorf("a state between two writes was reported: %s", guardtest.TextOf(ev))
	}
	r.NoAlarm()
}

// TestBaselineOfWhatIsGone checks that a file system that is erased before another attempt of its
// check is no finding, and is not undecided.
func TestBaselineOfWhatIsGone(t *testing.T) {
	const at, length = 264 << 10, 16 << 10 // in the inode table of the first group
	r := guardtest.Attach(t, populated(t, "ext3", 64<<20, 20, 200), verify)
	<-r.Daemon.BaselineCheckOf(0).Ended()
	write := func(off uint64, data []byte) {
		t.Helper()
		if err := r.Daemon.Devices()["disk"].Do(t.Context(), &blocktap.Request{Op: blocktap.OpWrite,
			Off: off, Len: uint64(len(data)), Data: data}); err != nil {
			t.Fatal(err)
		}
	}
	was := make([]byte, length)
	readAt(t, r.Image, was, at)
	write(at, bytes.Repeat([]byte{0x5a}, length))
	release := r.Daemon.SlowChecks()
	r.Daemon.BeginBaseline()
	write(at, was)
	write(0, make([]byte, 4096))
	release()
	<-r.Daemon.BaselineCheckOf(0).Ended()
	found := false
	for _, ev := range r.Seen.Events() {
		found = found || strings.Contains(ev.Note, "not checked: the file system is gone")
	}
	if !found {
		t.Error("the check does not say that the file system is gone")
	}
	r.NoAlarm()
}

// TestBaselineWithoutTemporaryFile checks that a baseline whose check cannot begin is undecided,
// and says so in the status and in the outcome.
func TestBaselineWithoutTemporaryFile(t *testing.T) {
	image := populated(t, "ext3", 64<<20, 1, 10)
	t.Setenv("TMPDIR", "/nonexistent")
	d, seen := openQuietly(t, image)
	defer d.Close()
	for range 100 {
		if d.Status()[0].State == guard.StateBaselineFailed {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if s := d.Status()[0].State; s != guard.StateBaselineFailed || d.Outcome() != change.Undecided {
		t.Errorf("the volume is %s, the outcome %s", s, d.Outcome())
	}
	events := seen.Events()
	if last := events[len(events)-1]; last.Kind != guard.KindBaseline ||
		last.Outcome != change.Undecided || !strings.Contains(last.Undecided[0], "/nonexistent") {
		t.Errorf("the last event is %s", guardtest.TextOf(last))
	}
}

// openQuietly guards an image, without a log, and checks its baseline.
func openQuietly(t *testing.T, image string) (*guard.Disks, *guardtest.Recorder) {
	t.Helper()
	seen := &guardtest.Recorder{}
	cfg := guard.Config{FS: detect.Auto, Policies: guard.Policies{OnViolation: guard.OnRefuse},
		Verify: true, Sinks: []guard.Sink{seen},
		Disks: []guard.DiskSpec{{Name: "disk", Path: image}}}
	d, err := guard.Open(cfg, zap.NewNop())
	if err != nil {
		t.Fatal(err)
	}
	return d, seen
}

// overwritten begins a check of the baseline. Each time that the check asks how busy the guest is,
// the guest overwrites what the first attempts need.
func overwritten(t *testing.T, d *guard.Disks, times int) *int {
	const super = 65536
	b := make([]byte, 4096)
	if _, err := d.Device("disk").Disk().ReadAt(b, super); err != nil {
		t.Fatal(err)
	}
	done := new(int)
	d.CheckAgain(func(device *blocktap.Device, another bool) uint64 {
		if another && *done < times {
			*done++
			if err := device.Do(context.Background(), &blocktap.Request{Op: blocktap.OpWrite, Off: super,
				Len: 4096, Data: b}); err != nil {
				t.Error(err)
			}
		}
		return uint64(*done)
	})
	return done
}

// TestBaselineOfWhatAppears checks that a file system that is made on a guarded disk is checked as
// soon as it exists.
func TestBaselineOfWhatAppears(t *testing.T) {
	for _, fs := range []string{"btrfs", "ext3"} {
		t.Run(fs, func(t *testing.T) {
			r := guardtest.Attach(t, guardtest.BlankImage(t, 256<<20), verify)
			guardtest.Run(t, "mkfs."+fs, map[string]string{"btrfs": "-q", "ext3": "-Fq"}[fs], r.LoopDev)
			r.MustMount(fs)
			if ev := baselineOf(r, time.Minute); ev.Outcome != change.Holds || ev.Records == 0 {
				t.Errorf("the baseline: %s", guardtest.TextOf(ev))
			}
			r.NoAlarm()
		})
	}
}

// TestBaselineWithoutAJournal checks that a file system without a journal is not checked while it
// is in use, since it has no consistent state then. Once it is marked clean, it is checked.
func TestBaselineWithoutAJournal(t *testing.T) {
	image := guardtest.BlankImage(t, 64<<20)
	guardtest.Run(t, "mkfs.ext2", "-q", "-F", image)
	for _, state := range []string{"1", "0"} {
		guardtest.Run(t, "debugfs", "-w", "-R", "set_super_value state "+state, image)
		r := guardtest.Attach(t, image, verify)
		<-r.Daemon.BaselineCheckOf(0).Ended()
		judged := ""
		for _, ev := range r.Seen.Events() {
			if ev.Kind == guard.KindBaseline || strings.Contains(ev.Note, "not checked") {
				judged += ev.Kind + " " + ev.Outcome.String()
			}
		}
		if want := map[string]string{"1": "baseline holds", "0": "note holds"}[state]; judged != want {
			t.Errorf("state %s: %q, want %q", state, judged, want)
		}
		r.End()
	}
}
