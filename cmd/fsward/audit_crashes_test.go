package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"fsward/hostd/daemon"
	"fsward/hostd/guard"
)

// audited starts a guard that audits crash states, mounts its ext3 with options and loads it. The
// journal is so small that the load goes around it: metadata in place is all that is left of the
// oldest transactions.
func audited(t *testing.T, options string) *watched {
	t.Helper()
	if os.Getuid() != 0 {
		t.Fatal("loop mounts need root: run the tests as root")
	}
	dir := t.TempDir()
	image, base := filepath.Join(dir, "image"), filepath.Join(dir, "base")
	run(t, "truncate", "-s", "64M", image)
	run(t, "mkfs.ext3", "-qF", "-J", "size=1", image)
	run(t, "cp", "--sparse=always", image, base)
	socket := filepath.Join(dir, "control")
	w := &watched{t: t, control: daemon.NewControl(socket)}
	w.daemonProcess = startDaemon(t, image, "--control", "unix:"+socket, "--record", dir+"/log",
		"--record-base", base, "--audit-crashes")
	w.m = &mounted{dir: t.TempDir()}
	w.m.loop = strings.TrimSpace(run(t, "losetup", "--find", "--show", "--direct-io=on",
		filepath.Join(w.dir, "disk")))
	run(t, "mount", "-t", "ext3", "-o", options, w.m.loop, w.m.dir)
	w.load()
	return w
}

// hurry checks that the audit has the lowest priority, and gives it that of others: on a busy
// machine an idle process may get nothing for minutes.
func (w *watched) hurry() {
	w.t.Helper()
	pid := strings.TrimSpace(run(w.t, "pgrep", "-P", strconv.Itoa(w.cmd.Process.Pid)))
	dir := "/proc/" + pid + "/"
	tasks, err := os.ReadDir(dir + "task")
	if err != nil {
		w.t.Fatal(err)
	}
	for _, task := range tasks {
		tid, err := strconv.Atoi(task.Name())
		if err != nil {
			w.t.Fatal(err)
		}
		attr, err := unix.SchedGetAttr(tid, 0)
		if err != nil || attr.Policy != unix.SCHED_IDLE {
			w.t.Fatalf("thread %d of the audit has the policy %+v, %v", tid, attr, err)
		}
		err = unix.SchedSetAttr(tid, &unix.SchedAttr{Size: unix.SizeofSchedAttr}, 0)
		if err != nil {
			w.t.Fatal(err)
		}
	}
	group, err := os.ReadFile(dir + "autogroup")
	if errors.Is(err, os.ErrNotExist) {
		return
	}
	if err != nil || !strings.HasSuffix(strings.TrimSpace(string(group)), "nice 19") {
		w.t.Errorf("the audit is in %s, %v", group, err)
	}
	if err := os.WriteFile(dir+"autogroup", []byte("0"), 0); err != nil {
		w.t.Error(err)
	}
}

// idle waits until the audit has begun, which is after it took its priority.
func (w *watched) idle() {
	w.t.Helper()
	w.untilAudit(func(s guard.CrashAuditStatus) bool { return s.Seconds > 0 })
	w.hurry()
}

// untilAudit waits for an audit for which done returns true.
func (w *watched) untilAudit(done func(guard.CrashAuditStatus) bool) guard.CrashAuditStatus {
	w.t.Helper()
	for deadline := time.Now().Add(3 * time.Minute); ; time.Sleep(100 * time.Millisecond) {
		self, err := w.control.Self()
		if err != nil {
			w.t.Fatal(err)
		}
		if len(self.CrashAudits) != 1 || self.CrashAudits[0].Error != "" {
			w.t.Fatalf("the status says %+v", self.CrashAudits)
		}
		s := self.CrashAudits[0]
		if done(s) {
			return s
		}
		if time.Now().After(deadline) {
			w.t.Fatalf("after three minutes the status says %+v", s)
		}
	}
}

// writeBack writes the metadata of the last commits in place, and flushes nothing. The kernel does
// so 30 s after a change.
func (w *watched) writeBack() {
	w.t.Helper()
	f, err := os.Open(w.m.loop)
	if err != nil {
		w.t.Fatal(err)
	}
	defer f.Close()
	const all = unix.SYNC_FILE_RANGE_WAIT_BEFORE | unix.SYNC_FILE_RANGE_WRITE |
		unix.SYNC_FILE_RANGE_WAIT_AFTER
	if err := unix.SyncFileRange(int(f.Fd()), 0, 0, all); err != nil {
		w.t.Fatal(err)
	}
}

// ends ends the guard, and returns its exit status and its crash_state and audit events.
func (w *watched) ends() (status int, events []map[string]any) {
	w.t.Helper()
	w.m.unmount(w.t)
	if err := w.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		w.t.Fatal(err)
	}
	_ = w.cmd.Wait() // its exit status is returned
	for line := range bytes.Lines(w.out.Bytes()) {
		var ev map[string]any
		if err := json.Unmarshal(line, &ev); err != nil {
			w.t.Fatalf("%q: %v", line, err)
		}
		if ev["event"] == guard.KindCrashState || ev["event"] == guard.KindAudit {
			events = append(events, ev)
		}
	}
	return w.cmd.ProcessState.ExitCode(), events
}

// A guest that does not order its writes is found while it runs, by a guard that holds each of its
// commits for right. Its writes are those of a real kernel.
func TestAuditFindsMissingBarriers(t *testing.T) {
	t.Parallel()
	w := audited(t, "barrier=0")
	w.idle()
	// At each moment the audit takes a sample of states, which may all be sound. Then the next
	// write-back shows it.
	var again time.Time
	w.untilAudit(func(s guard.CrashAuditStatus) bool {
		if s.Findings == 0 && s.Behind == 0 && time.Now().After(again) {
			w.load()
			w.writeBack()
			again = time.Now().Add(2 * time.Second)
		}
		return s.Violated > 0 && s.Behind == 0
	})
	status, events := w.ends()
	if status != exitViolated || len(events) == 0 {
		t.Fatalf("exit status %d, events %v", status, events)
	}
	for _, ev := range events {
		violations, _ := ev["violations"].([]any)
		crash, _ := ev["crash"].(map[string]any)
		missing, _ := crash["missing"].([]any)
		if ev["verdict"] != "violated" || len(violations) != 1 || len(missing) == 0 ||
			ev["fs"] != "ext3" || ev["disk"] != "image" {
			t.Errorf("%v", ev)
		}
	}
}

// The crash states of a sound guest are audited while it runs, and nothing is said.
func TestAuditOfSoundGuest(t *testing.T) {
	t.Parallel()
	w := audited(t, "barrier=1")
	w.idle()
	s := w.untilAudit(func(s guard.CrashAuditStatus) bool { return s.States > 100 && s.Behind == 0 })
	if s.Findings+int(s.Violated+s.Undecided+s.Skipped) > 0 {
		t.Errorf("%+v", s)
	}
	if status, events := w.ends(); status != 0 || len(events) > 0 {
		t.Errorf("exit status %d, events %v", status, events)
	}
}
