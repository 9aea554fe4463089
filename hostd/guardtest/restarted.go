package guardtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
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
	out    string // file for the events of all its lives
	log    string // file for the log of all its lives
}

// StartRestarted starts the program with the arguments of a guard. The test ends it.
func StartRestarted(t *testing.T, program string, seed uint64, args ...string) *Restarted {
	t.Helper()
	dir := t.TempDir()
	r := &Restarted{t: t, args: append([]string{program, "guard", "--json"}, args...),
		random: rand.New(rand.NewPCG(seed, 0)), out: dir + "/events", log: dir + "/log"}
	r.start()
	t.Cleanup(func() {
		_ = r.cmd.Process.Kill()
		_ = r.cmd.Wait()
		if log, err := os.ReadFile(r.log); err == nil && t.Failed() {
			t.Logf("the end of the guard's log:\n%s", log[max(0, len(log)-5000):])
		}
	})
	return r
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
	if err := r.cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
}

// Restart lets the guard run for a random time of at most a second and a half, ends it and starts
// it again. Every fourth time on average it gets SIGTERM, as for an upgrade, and SIGKILL otherwise.
func (r *Restarted) Restart() {
	r.t.Helper()
	time.Sleep(time.Duration(r.random.IntN(1500)) * time.Millisecond)
	if r.random.IntN(4) == 0 {
		r.Stops++
		r.Stop()
	} else {
		r.Kills++
		_ = r.cmd.Process.Kill()
		_ = r.cmd.Wait()
	}
	r.start()
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

// Commits checks that every verdict of the guard held, and returns the number of its commits by
// file system.
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
		if ev.Verdict != "holds" {
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
