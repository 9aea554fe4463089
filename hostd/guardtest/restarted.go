package guardtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A Restarted is a `fsward guard` in a process of its own that is ended at random moments and
// started again.
type Restarted struct {
	Kills, Stops int // how often it was killed, and how often it was told to end

	t      *testing.T
	args   []string
	random *rand.Rand
	cmd    *exec.Cmd
	began  int64    // size of out when the guard began its present life
	socket *os.File // stays open between its lives, as a socket of systemd does; may be nil
	out    string   // file for the events of all its lives
	log    string   // file for the log of all its lives
}

// StartRestarted starts the program with the arguments of a guard. The test ends it.
func StartRestarted(t *testing.T, program string, seed uint64, args ...string) *Restarted {
	t.Helper()
	dir := t.TempDir()
	r := &Restarted{t: t, args: append([]string{program, "guard", "--json"}, args...),
		random: rand.New(rand.NewPCG(seed, 0)), out: dir + "/events", log: dir + "/log"}
	r.begin()
	return r
}

// StartActivated is StartRestarted of a guard that serves its disks at a socket which somebody else
// has opened and keeps open, as systemd does.
func StartActivated(t *testing.T, program string, seed uint64, socket string,
	args ...string) *Restarted {
	t.Helper()
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	file, err := l.(*net.UnixListener).File()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	dir := t.TempDir()
	// sd_listen_fds(3): the variables name the process itself.
	shell := []string{"sh", "-c", `LISTEN_PID=$$ exec "$0" "$@"`, program, "guard", "--json",
		"--listen", "systemd:disks"}
	r := &Restarted{t: t, args: append(shell, args...), socket: file,
		random: rand.New(rand.NewPCG(seed, 0)), out: dir + "/events", log: dir + "/log"}
	r.begin()
	return r
}

// begin starts the guard for the first time, and has the test end it.
func (r *Restarted) begin() {
	r.t.Helper()
	r.start()
	r.t.Cleanup(func() {
		_ = r.cmd.Process.Kill()
		_ = r.cmd.Wait()
		if log, err := os.ReadFile(r.log); err == nil && r.t.Failed() {
			r.t.Logf("the end of the guard's log:\n%s", log[max(0, len(log)-5000):])
		}
	})
}

func (r *Restarted) start() {
	r.t.Helper()
	r.cmd = exec.Command(r.args[0], r.args[1:]...)
	open := func(path string) *os.File {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			r.t.Fatal(err)
		}
		return f
	}
	stdout, stderr := open(r.out), open(r.log)
	defer stdout.Close()
	defer stderr.Close()
	r.cmd.Stdout, r.cmd.Stderr = stdout, stderr
	if r.socket != nil {
		r.cmd.ExtraFiles = []*os.File{r.socket}
		r.cmd.Env = append(os.Environ(), "LISTEN_FDS=1", "LISTEN_FDNAMES=disks")
	}
	st, err := stdout.Stat()
	if err != nil {
		r.t.Fatal(err)
	}
	r.began = st.Size()
	if err := r.cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
}

// Restart ends the guard at a random moment and starts it again. Three times out of four it waits
// for a commit first, so that the guest is connected and busy; otherwise the guard may end while it
// starts. One time out of four the guard gets SIGTERM, as for an upgrade, and SIGKILL otherwise.
func (r *Restarted) Restart() {
	r.t.Helper()
	if r.random.IntN(4) > 0 {
		r.awaitCommit()
	}
	time.Sleep(time.Duration(r.random.IntN(1000)) * time.Millisecond)
	if r.random.IntN(4) == 0 {
		r.Stops++
		r.Stop()
		r.start()
		return
	}
	r.Kill()
}

// Kill kills the guard and starts it again.
func (r *Restarted) Kill() {
	r.t.Helper()
	r.Kills++
	_ = r.cmd.Process.Kill()
	_ = r.cmd.Wait()
	r.start()
}

// awaitCommit waits until the guard has judged a commit in its present life.
func (r *Restarted) awaitCommit() {
	r.t.Helper()
	for begin := time.Now(); time.Since(begin) < time.Minute; time.Sleep(20 * time.Millisecond) {
		text, err := os.ReadFile(r.out)
		if err != nil {
			r.t.Fatal(err)
		}
		if bytes.Contains(text[r.began:], []byte(`"event":"commit"`)) {
			return
		}
	}
	r.t.Error("the guard has judged no commit for a minute: the guest hangs")
}

// Stop tells the guard to end, and waits. Every verdict must hold, so that its exit status is 0.
func (r *Restarted) Stop() {
	r.t.Helper()
	_ = r.cmd.Process.Signal(syscall.SIGTERM)
	ended := time.AfterFunc(30*time.Second, func() { _ = r.cmd.Process.Kill() })
	defer ended.Stop()
	err := r.cmd.Wait()
	if err != nil && !r.starting() {
		r.t.Errorf("the guard was told to end: %v", err)
	}
}

// starting reports whether the last signal came before the guard could handle it.
func (r *Restarted) starting() bool {
	status, ok := r.cmd.ProcessState.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGTERM
}

// Commits checks that no verdict of the guard was an alarm, and returns the number of its commits
// by file system.
func (r *Restarted) Commits() map[string]int {
	r.t.Helper()
	text, err := os.ReadFile(r.out)
	if err != nil {
		r.t.Fatal(err)
	}
	commits := map[string]int{}
	for line := range bytes.Lines(text) {
		var ev struct{ Event, FS, Verdict string }
		if err := json.Unmarshal(line, &ev); err != nil {
			r.t.Errorf("%q: %v", line, err)
		}
		if ev.Verdict != "holds" && ev.Verdict != "" { // an event of a blank disk has no verdict
			r.t.Errorf("alarm: %s", line)
		}
		if strings.Contains(ev.Event, "commit") {
			commits[ev.FS]++
		}
	}
	return commits
}

// Seed returns the number that $FSWARD_SEED gives, or a random one, and logs it.
func Seed(t *testing.T) uint64 {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	if s := os.Getenv("FSWARD_SEED"); s != "" {
		if _, err := fmt.Sscan(s, &seed); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("FSWARD_SEED=%d repeats this run", seed)
	return seed
}
