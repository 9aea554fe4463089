package hostd

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"fsward/blocktap"
	"fsward/change"
)

// baseline waits for the check of the baseline and returns what it reported.
func (r *rig) baseline(within time.Duration) *Event {
	r.t.Helper()
	p := r.daemon.disks[0].pass.Load()
	if p == nil {
		r.t.Fatal("no check of the baseline was begun")
	}
	select {
	case <-p.done:
	case <-time.After(within):
		r.t.Fatalf("the check of the baseline is not done after %s: %s", within, r.daemon.Status()[0].Baseline)
	}
	var found *Event
	for _, ev := range r.seen.events() {
		if ev.Kind == KindBaseline {
			found = ev
		}
	}
	if found == nil {
		r.t.Fatal("the check of the baseline ended without a report")
	}
	return found
}

func verify(c *Config) { c.Verify = true }

// populated makes an image with a good number of files on it.
func populated(t *testing.T, fs string, size int64, dirs, files int) string {
	t.Helper()
	src := t.TempDir()
	for d := range dirs {
		dir := fmt.Sprintf("%s/dir%d", src, d)
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		for i := range files {
			if err := os.WriteFile(fmt.Sprintf("%s/a-file-%d", dir, i), make([]byte, i%3*3000+1), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	return mkfs(t, fs, size, map[string]string{"btrfs": "--rootdir", "ext3": "-d"}[fs], src)
}

// beside is a load that takes away from what was there at the beginning, and brings in more.
const beside = `rm -rf dir%[1]d; for i in 1 2 3; do mkdir -p new%[1]d.$i; for j in $(seq 40); do echo $j > new%[1]d.$i/f$j; done; sync -f .; done`

// While a real load goes on, the check of the baseline judges the state of the beginning to its end, and neither it
// nor any commit raises a false alarm.
func TestBaselineBesideALoad(t *testing.T) {
	for _, fs := range []string{"btrfs", "ext3"} {
		t.Run(fs, func(t *testing.T) {
			image := populated(t, fs, 512<<20, 20, 100)
			r := attach(t, image, verify)
			r.mustMount(fs)
			for n := 0; n < 2 || r.daemon.Status()[0].Baseline.Phase != PhaseDone && n < 10; n++ {
				r.mustRun(fmt.Sprintf(beside, n))
			}
			ev := r.baseline(2 * time.Minute)
			if ev.Outcome != change.Holds || ev.Records == 0 {
				t.Errorf("the baseline: %s", textOf(ev))
			}
			r.noAlarm()
			commits := 0
			for _, ev := range r.seen.events() {
				if ev.Kind == KindBaseline {
					break
				}
				if ev.Kind == KindCommit {
					commits++
				}
			}
			status := r.daemon.Status()[0].Baseline
			if commits < 2 || status.KeptB == 0 {
				t.Errorf("the check was to run beside commits that rewrite what it reads: %d commits, %+v", commits, *status)
			}
			t.Logf("%d records in %s, %d commits beside it, %d bytes kept", ev.Records, time.Duration(ev.CheckNS), commits, status.KeptB)
			line, err := json.Marshal(ev)
			if err != nil || !strings.HasPrefix(string(line), `{"event":"baseline","disk":"disk","fs":"`+fs+`"`) {
				t.Errorf("as JSON: %s (%v)", line, err)
			}
			r.close()
			mustBeClean(t, fs, image)
		})
	}
}

// A fault that was there before the guard is found by the check of the baseline, in all its copies, while commits
// that have nothing to do with it pass.
func TestBaselineFindsWhatWasThere(t *testing.T) {
	for _, tc := range []struct {
		fs, rule string
		plant    func(t *testing.T, image string)
	}{
		{"btrfs", "btrfs/14", func(t *testing.T, image string) {
			done, err := CorruptImages([]string{image}, CorruptConfig{FS: "btrfs", Spec: "inode_item.nlink+1@mode=0o100644", Pick: 1950})
			if err != nil {
				t.Fatal(err)
			}
			t.Log(done.What)
		}},
		{"ext3", "ext3/7", func(t *testing.T, image string) {
			run(t, "debugfs", "-w", "-R", "set_inode_field /dir19/a-file-7 links_count 3", image)
		}},
	} {
		t.Run(tc.fs, func(t *testing.T) {
			image := populated(t, tc.fs, 512<<20, 20, 100)
			tc.plant(t, image)
			r := attach(t, image, verify)
			r.mustMount(tc.fs)
			r.mustRun(fmt.Sprintf(beside, 0))
			ev := r.baseline(2 * time.Minute)
			if ev.Outcome != change.Violated || len(ev.Violations) != 1 || ev.Violations[0].Rule != tc.rule {
				t.Errorf("the baseline: %s", textOf(ev))
			}
			r.mustRun(fmt.Sprintf(beside, 1))
			commits := 0
			for _, ev := range r.seen.events() {
				if ev.Kind == KindBaseline {
					continue
				}
				if ev.Kind == KindCommit {
					commits++
				}
				if ev.Outcome != change.Holds {
					t.Errorf("besides the baseline: %s", textOf(ev))
				}
			}
			if commits < 6 {
				t.Errorf("%d commits, want 6 at least", commits)
			}
			if got := r.daemon.Outcome(); got != change.Violated {
				t.Errorf("the daemon's outcome is %s", got)
			}
			t.Log(textOf(ev))
		})
	}
}

// A daemon that stops in the middle of the check says so, and the next one begins anew.
func TestBaselineInterrupted(t *testing.T) {
	image := populated(t, "btrfs", 512<<20, 20, 100)
	r := attach(t, image, verify)
	p := r.daemon.disks[0].pass.Load()
	r.close()
	if s := p.Status(); s.Phase != PhaseInterrupted {
		t.Fatalf("after the end: %+v", s)
	}
	last := r.seen.events()[len(r.seen.events())-1]
	if last.Kind != KindNote || !strings.Contains(last.Note, "interrupted at") {
		t.Errorf("the last event is %s", textOf(last))
	}
	again := attach(t, image, verify)
	if ev := again.baseline(2 * time.Minute); ev.Outcome != change.Holds {
		t.Errorf("the second time: %s", textOf(ev))
	}
}

// Where the guest rewrites more than is kept, the check begins anew, and says at last that it cannot tell.
func TestBaselineOutrun(t *testing.T) {
	for _, tc := range []struct {
		times int // that the guest is too fast
		want  change.Outcome
	}{{maxAttempts - 1, change.Holds}, {maxAttempts, change.Undecided}} {
		r := attach(t, populated(t, "btrfs", 256<<20, 10, 100), nil)
		d := r.daemon
		d.kept = 0
		begun := overwritten(t, d, tc.times)
		d.disks[0].device.Between(func() { d.beginPass(0, true) })
		ev := r.baseline(2 * time.Minute)
		if ev.Outcome != tc.want || *begun < tc.times {
			t.Errorf("overwritten %d times: %s", *begun, textOf(ev))
		}
		if tc.want == change.Undecided && !strings.Contains(textOf(ev), errMoved.Error()) {
			t.Errorf("it does not say why: %s", textOf(ev))
		}
		r.close()
	}
}

// overwritten makes the guest write over what the first attempts of a check need, each time that it is asked how
// busy it is.
func overwritten(t *testing.T, d *Daemon, times int) *int {
	const super = 65536
	b := make([]byte, 4096)
	if _, err := d.disks[0].file.ReadAt(b, super); err != nil {
		t.Fatal(err)
	}
	device, last, done := d.disks[0].device, (*frozen)(nil), new(int)
	d.disks[0].guard.requests = func() uint64 {
		if now := d.disks[0].guard.frozen.Load(); now != last && *done < times {
			last = now
			*done++
			if err := device.Do(context.Background(), &blocktap.Request{Op: blocktap.OpWrite, Off: super, Len: 4096, Data: b}); err != nil {
				t.Error(err)
			}
		}
		return uint64(*done)
	}
	return done
}

// A file system that is made while the disk is guarded is checked as soon as it is there.
func TestBaselineOfWhatAppears(t *testing.T) {
	for _, fs := range []string{"btrfs", "ext3"} {
		t.Run(fs, func(t *testing.T) {
			r := attach(t, blankImage(t, 256<<20), verify)
			run(t, "mkfs."+fs, map[string]string{"btrfs": "-q", "ext3": "-Fq"}[fs], r.LoopDev)
			r.mustMount(fs)
			if ev := r.baseline(time.Minute); ev.Outcome != change.Holds || ev.Records == 0 {
				t.Errorf("the baseline: %s", textOf(ev))
			}
			r.noAlarm()
		})
	}
}

// A file system without a journal is in no state while it is in use: there is nothing to check then. Marked clean, it is.
func TestBaselineWithoutAJournal(t *testing.T) {
	image := blankImage(t, 64<<20)
	run(t, "mkfs.ext2", "-q", "-F", image)
	for _, state := range []string{"1", "0"} {
		run(t, "debugfs", "-w", "-R", "set_super_value state "+state, image)
		r := attach(t, image, verify)
		<-r.daemon.disks[0].pass.Load().done
		judged := ""
		for _, ev := range r.seen.events() {
			if ev.Kind == KindBaseline || strings.Contains(ev.Note, "not checked") {
				judged += ev.Kind + " " + ev.Outcome.String()
			}
		}
		if want := map[string]string{"1": "baseline holds", "0": "note holds"}[state]; judged != want {
			t.Errorf("state %s: %q, want %q", state, judged, want)
		}
		r.close()
	}
}
