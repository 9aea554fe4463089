package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"fsward/hostd/daemon"
)

// fsyncs is a load of that many commits, each with one fsync. It fails if a single call fails.
const fsyncs = 150

const fsyncLoad = `use IO::Handle; for my $i (1..%d) {
	open(my $f, ">", "%s/f$i") or die "open $i: $!";
	print $f "contents of $i\n" or die "write $i: $!";
	$f->flush or die "flush $i: $!"; $f->sync or die "fsync $i: $!"; close $f or die "close $i: $!" }`

// A watched daemon is a guard whose reports have a reader of a bad kind.
type watched struct {
	*daemonProcess
	t       *testing.T
	control *daemon.Control
	m       *mounted
}

// watch starts a guard with a small queue on a new file system, and mounts it.
func watch(t *testing.T, fs string, stdout, stderr *os.File, options ...string) *watched {
	t.Helper()
	if os.Getuid() != 0 {
		t.Fatal("loop mounts need root: run the tests as root")
	}
	image := filepath.Join(t.TempDir(), "image")
	run(t, "truncate", "-s", "256M", image)
	run(t, "mkfs."+fs, map[string]string{"btrfs": "-qf", "ext3": "-qF"}[fs], image)
	socket := filepath.Join(t.TempDir(), "control")
	w := &watched{t: t, control: daemon.NewControl(socket)}
	w.daemonProcess = startDaemonTo(t, stdout, stderr, image, append([]string{"--report-queue", "4K",
		"--verify-baseline=false", "--control", "unix:" + socket}, options...)...)
	w.m = w.mount(t, fs)
	return w
}

// load does the load, every call of which must succeed.
func (w *watched) load() {
	w.t.Helper()
	run(w.t, "perl", "-e", fmt.Sprintf(fsyncLoad, fsyncs, w.m.dir))
}

// reports returns what became of the reports so far.
func (w *watched) reports() (messages, waiting, dropped int) {
	w.t.Helper()
	self, err := w.control.Self()
	if err != nil {
		w.t.Fatal(err)
	}
	c := self.Outputs[0]
	return int(c.Messages), int(c.Waiting), int(c.Dropped)
}

// commits returns the number of commits that the guard has judged.
func (w *watched) commits() int {
	w.t.Helper()
	disks, err := w.control.Status()
	if err != nil {
		w.t.Fatal(err)
	}
	if disks[0].Refused > 0 {
		w.t.Errorf("%d commits were refused", disks[0].Refused)
	}
	return int(disks[0].Commits)
}

// isUndecided ends the guard by SIGTERM and checks its exit status. It must not be that of an
// error.
func (w *watched) isUndecided() {
	w.t.Helper()
	if err := w.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		w.t.Fatal(err)
	}
	err := w.cmd.Wait()
	if got := w.cmd.ProcessState.ExitCode(); got != exitUndecided {
		w.t.Errorf("exit status %d, want %d (%v)", got, exitUndecided, err)
	}
	if strings.Contains("\n"+w.log.String(), "\nfsward: ") {
		w.t.Errorf("the guard ended with an error:\n%s", &w.log)
	}
}

// until waits until a condition holds.
func (w *watched) until(what string, holds func() bool) {
	w.t.Helper()
	for range 3000 {
		if holds() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	w.t.Fatalf("never happened: %s", what)
}

// tally counts lines of a report.
type tally struct{ lines, commits, dropped int }

// tallyOf reads complete lines, each of which must be an object with the common keys.
func tallyOf(t *testing.T, text []byte) (n tally) {
	t.Helper()
	for line := range bytes.Lines(text) {
		var ev struct {
			Event   string
			Verdict string
			Dropped int
			Schema  int
			Time    time.Time
			Version string
		}
		if err := json.Unmarshal(line, &ev); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if ev.Schema == 0 || ev.Time.IsZero() || ev.Version == "" {
			t.Errorf("the common keys are missing: %s", line)
		}
		switch ev.Event {
		case "dropped":
			n.dropped += ev.Dropped
			continue
		case "commit", "log_commit":
			n.commits++
		}
		n.lines++
		if ev.Verdict != "holds" {
			t.Errorf("not held: %s", line)
		}
	}
	return n
}

// check checks that what was received and what was dropped is everything. Only commits were
// dropped, because all else came before the load or after it.
func (n tally) check(t *testing.T, messages, commits int) {
	t.Helper()
	t.Logf("%d reports: %d received, %d dropped; %d commits", messages, n.lines, n.dropped, commits)
	if n.dropped == 0 || n.lines+n.dropped != messages || commits >= 0 &&
		n.commits+n.dropped != commits {
		t.Errorf("%d reports and %d commits, but received were %+v", messages, commits, n)
	}
}

// pipe returns the ends of a pipe of one page.
func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := unix.FcntlInt(w.Fd(), unix.F_SETPIPE_SZ, 4096); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = r.Close(), w.Close() })
	return r, w
}

// reading keeps what it reads.
type reading struct {
	mu   sync.Mutex
	text bytes.Buffer
	done chan struct{}
}

// read begins to read lines from r to its end.
func read(r *os.File) *reading {
	out := &reading{done: make(chan struct{})}
	go func() {
		defer close(out.done)
		for lines := bufio.NewReader(r); ; {
			line, err := lines.ReadBytes('\n')
			if err != nil {
				return
			}
			out.mu.Lock()
			out.text.Write(line)
			out.mu.Unlock()
		}
	}()
	return out
}

func (r *reading) bytes() []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	return bytes.Clone(r.text.Bytes())
}

// TestStoppedReader checks that a reader of stdout that stops does not stop the guest, and learns
// how much it missed as soon as it reads on.
func TestStoppedReader(t *testing.T) {
	t.Parallel()
	r, stdout := pipe(t)
	w := watch(t, "ext3", stdout, nil)
	_ = stdout.Close()
	w.load()
	if _, waiting, dropped := w.reports(); dropped == 0 || waiting == 0 {
		t.Errorf("nobody reads, but %d reports wait and %d are dropped", waiting, dropped)
	}
	out := read(r)
	// Nothing happens on the disk meanwhile.
	w.until("the reader learns what it missed", func() bool {
		_, waiting, dropped := w.reports()
		return waiting == 0 && tallyOf(t, out.bytes()).dropped == dropped
	})
	w.m.unmount(t)
	commits := w.commits()
	messages, _, _ := w.reports()
	w.isUndecided()
	<-out.done
	tallyOf(t, out.bytes()).check(t, messages, commits)
}

// TestReaderThatNeverReads checks that the guard ends although nobody reads its report to the end,
// says on stderr what was lost, and leaves no guest behind that waits.
func TestReaderThatNeverReads(t *testing.T) {
	t.Parallel()
	r, stdout := pipe(t)
	w := watch(t, "ext3", stdout, nil)
	_ = stdout.Close()
	w.load()
	w.m.unmount(t)
	messages, _, _ := w.reports()
	w.isUndecided()
	var lost struct{ Reports, Dropped int }
	_, text, _ := strings.Cut(w.log.String(), "did not take all reports")
	if err := json.Unmarshal([]byte(text), &lost); err != nil {
		t.Fatalf("the log does not say what was lost: %v\n%s", err, &w.log)
	}
	// What the pipe holds counts as received. Its last line may be cut.
	out := read(r)
	<-out.done
	n := tallyOf(t, out.bytes())
	n.dropped = lost.Dropped
	n.check(t, messages, -1)
	if lost.Reports != messages {
		t.Errorf("%d reports, but the log says %d", messages, lost.Reports)
	}
}

// TestDeadReader checks that the death of the reader of stdout and stderr does not end the guard.
func TestDeadReader(t *testing.T) {
	t.Parallel()
	r, stdout := pipe(t)
	log, stderr := pipe(t)
	w := watch(t, "btrfs", stdout, stderr)
	_, _ = stdout.Close(), stderr.Close()
	out := read(r)
	before := 0
	w.until("the reader has taken everything", func() bool {
		messages, waiting, _ := w.reports()
		before = tallyOf(t, out.bytes()).lines
		return waiting == 0 && before == messages
	})
	_, _ = r.Close(), log.Close()
	w.load()
	run(t, "sync", "-f", w.m.dir)
	w.m.unmount(t)
	messages, waiting, dropped := w.reports()
	if dropped == 0 || before+waiting+dropped != messages {
		t.Errorf("of %d reports %d were received, %d wait, %d are dropped", messages, before, waiting,
			dropped)
	}
	if n := w.commits(); n == 0 {
		t.Error("no commit was judged")
	}
	w.isUndecided()
}

// smallDisk returns a folder that has room for that many bytes.
func smallDisk(t *testing.T, bytes int) string {
	t.Helper()
	dir := t.TempDir()
	run(t, "mount", "-t", "tmpfs", "-o", fmt.Sprintf("size=%d", bytes), "tmpfs", dir)
	t.Cleanup(func() { run(t, "umount", dir) })
	return dir
}

// TestFullLogDisk checks that a full disk under the report does not stop the guest, and that the
// report goes on where it ended when the disk has room again.
func TestFullLogDisk(t *testing.T) {
	t.Parallel()
	dir := smallDisk(t, 8<<10)
	stdout, err := os.Create(filepath.Join(dir, "report"))
	if err != nil {
		t.Fatal(err)
	}
	w := watch(t, "ext3", stdout, nil)
	w.load()
	if _, _, dropped := w.reports(); dropped == 0 {
		t.Error("the disk is full, but no report was dropped")
	}
	run(t, "mount", "-o", "remount,size=1M", dir)
	w.until("the report is complete", func() bool {
		_, waiting, dropped := w.reports()
		text, err := os.ReadFile(stdout.Name())
		if err != nil {
			t.Fatal(err)
		}
		return waiting == 0 && bytes.HasSuffix(text, []byte("\n")) && tallyOf(t, text).dropped == dropped
	})
	w.m.unmount(t)
	commits := w.commits()
	messages, _, _ := w.reports()
	w.isUndecided()
	text, err := os.ReadFile(stdout.Name())
	if err := errors.Join(err, stdout.Close()); err != nil {
		t.Fatal(err)
	}
	tallyOf(t, text).check(t, messages, commits)
}
