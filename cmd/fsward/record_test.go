package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// failedRecording checks that the report and the status say that the recording has failed, and that
// every commit was judged nevertheless.
func (w *watched) failedRecording(why string) {
	w.t.Helper()
	self, err := w.control.Self()
	if err != nil {
		w.t.Fatal(err)
	}
	if self.Recording == nil || !strings.Contains(self.Recording.Error, why) {
		w.t.Errorf("the status says %+v, want %q", self.Recording, why)
	}
	if n := w.commits(); n < fsyncs {
		w.t.Errorf("%d commits, want at least %d", n, fsyncs)
	}
	w.isUndecided()
	told := 0
	for line := range bytes.Lines(w.out.Bytes()) {
		var ev struct{ Event, Verdict, Disk, Error string }
		if err := json.Unmarshal(line, &ev); err != nil {
			w.t.Fatalf("%q: %v", line, err)
		}
		if ev.Event != "recording" {
			continue
		}
		if told++; ev.Disk != "image" || ev.Verdict != "" || !strings.Contains(ev.Error, why) {
			w.t.Errorf("%s", line)
		}
	}
	if told != 1 {
		w.t.Errorf("%d events of the recording, want 1", told)
	}
}

// TestFullRecordingDisk checks that a full disk under --record does not stop the guest.
func TestFullRecordingDisk(t *testing.T) {
	t.Parallel()
	dir := smallDisk(t, 256<<10)
	w := watch(t, "ext3", nil, nil, "--record", filepath.Join(dir, "log"))
	w.load()
	w.m.unmount(t)
	w.failedRecording("no space left on device")
}

// TestStuckRecordingDisk checks that a disk under --record that does not answer does not stop the
// guest. The kernel holds every write to a file system that is frozen.
func TestStuckRecordingDisk(t *testing.T) {
	t.Parallel()
	dir, image := t.TempDir(), filepath.Join(t.TempDir(), "log.img")
	run(t, "truncate", "-s", "64M", image)
	run(t, "mkfs.ext3", "-qF", image)
	run(t, "mount", "-o", "loop", image, dir)
	t.Cleanup(func() { run(t, "umount", dir) })
	w := watch(t, "ext3", nil, nil, "--record", filepath.Join(dir, "log"))
	run(t, "fsfreeze", "--freeze", dir)
	thaw := func() { run(t, "fsfreeze", "--unfreeze", dir) }
	defer func() {
		if thaw != nil {
			thaw()
		}
	}()
	w.load()
	// More than the queue of the recording holds.
	run(t, "sh", "-ec", fmt.Sprintf("cd %s; head -c 50000000 /dev/zero > large; sync -f .; rm large; "+
		"sync -f .", w.m.dir))
	w.m.unmount(t)
	thaw()
	thaw = nil
	w.failedRecording("slower than the guest")
}

// TestRecordingRing checks that a recording that has discarded its beginning can be replayed from
// the base that followed it, and only from that.
func TestRecordingRing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	image, before, base := dir+"/image", dir+"/before", dir+"/base"
	run(t, "truncate", "-s", "256M", image)
	run(t, "mkfs.btrfs", "-qf", image)
	run(t, "cp", "--sparse=always", image, before)
	run(t, "cp", "--sparse=always", image, base)
	d := startDaemon(t, image, "--record", dir+"/log", "--record-limit", "8M", "--record-base", base)
	m := d.mount(t, "btrfs")
	run(t, "sh", "-ec", fmt.Sprintf(`cd %s; for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
		head -c 2000000 /dev/urandom > f$((i %% 4)); sync -f .; done`, m.dir))
	m.unmount(t)
	d.stop(t, syscall.SIGTERM)
	if _, err := os.Stat(dir + "/log"); err == nil {
		t.Error("the first segment was not discarded")
	}
	out := run(t, "fsward", "replay", "--json", "--base", base, dir+"/log")
	if n := strings.Count(out, `"event":"commit"`); n < 3 {
		t.Errorf("%d commits were replayed, want some:\n%s", n, out)
	}
	text, err := exec.Command("fsward", "replay", "--base", before, dir+"/log").CombinedOutput()
	if err == nil || !strings.Contains(string(text), "the ring has discarded it") {
		t.Errorf("the replay from the image before says %v\n%s", err, text)
	}
}
