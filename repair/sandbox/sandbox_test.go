package sandbox

import (
	"os"
	"strings"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	if Inside() {
		Main()
		return
	}
	os.Exit(m.Run())
}

// shell returns a command that runs a script, within bounds that the tests below can reach.
func shell(script string) Command {
	return Command{Argv: []string{"sh", "-c", script}, Env: os.Environ(), Time: 10 * time.Second,
		MemoryBytes: 1 << 30, FileBytes: 1 << 18, OutputBytes: 4096}
}

func start(t *testing.T) *Box {
	t.Helper()
	b, err := Start(Config{WorkBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// TestBounds runs a program against each bound of a Box.
func TestBounds(t *testing.T) {
	b := start(t)
	for _, c := range []struct {
		name, script string
		alter        func(*Command)
		want         func(Result) bool
	}{
		{"status", "echo out; echo err >&2; exit 5", nil, func(r Result) bool {
			return r.Status == 5 && string(r.Output) == "out\nerr\n"
		}},
		{"signal", "kill -SEGV $$", nil, func(r Result) bool { return r.Signal == "SIGSEGV" }},
		// Seccomp: 2 is a filter.
		{"filter", "grep -x 'Seccomp:.2' /proc/self/status && sync", nil, func(r Result) bool {
			return r.Status == 0 && r.Took < 5*time.Second
		}},
		{"abort", "kill -ABRT $$", nil, func(r Result) bool { return r.Signal == "SIGABRT" }},
		{"time", "sleep 100 & sleep 100", func(c *Command) { c.Time = 100 * time.Millisecond },
			func(r Result) bool { return r.TimedOut && r.Signal == "" }},
		{"output", "yes", nil, func(r Result) bool { return r.Flooded && len(r.Output) == 4096 }},
		{"memory", "head -c 100m /dev/zero | tail -c 100m >/dev/null",
			func(c *Command) { c.MemoryBytes = 64 << 20 },
			func(r Result) bool { return strings.Contains(string(r.Output), "memory") }},
		{"file", "head -c 1m /dev/zero >big", nil, func(r Result) bool { return r.Status != 0 }},
		{"files", "ulimit -f unlimited; head -c 2m /dev/zero >big", nil, func(r Result) bool {
			return strings.Contains(string(r.Output), "No space left")
		}},
		{"read-only", "touch /etc/x /tmp/x /dev/x/x", nil, func(r Result) bool {
			return strings.Count(string(r.Output), "cannot touch") == 3
		}},
		{"devices", "ls /dev; mknod dev b 7 0", nil, func(r Result) bool {
			return string(r.Output) == "full\nnull\nrandom\nurandom\nzero\n"+
				"mknod: dev: Operation not permitted\n"
		}},
		{"mounts", "mount -t tmpfs none /tmp", nil, func(r Result) bool { return r.Status != 0 }},
		{"network", "cat /proc/net/dev | wc -l", nil, func(r Result) bool {
			return string(r.Output) == "3\n" // two lines of headings, and lo
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			cmd := shell(c.script)
			if c.alter != nil {
				c.alter(&cmd)
			}
			r, err := b.Run(cmd)
			if err != nil || !c.want(r) {
				t.Errorf("%+v, %q, %v", r, r.Output, err)
			}
		})
	}
}

// TestNoProcessStays starts a process that outlives its parent, and sees that the next run is
// alone.
func TestNoProcessStays(t *testing.T) {
	b := start(t)
	if _, err := b.Run(shell("setsid sleep 100 >/dev/null 2>&1 &")); err != nil {
		t.Fatal(err)
	}
	r, err := b.Run(shell("set -- /proc/[0-9]*; echo $#"))
	// The box itself and the shell.
	if err != nil || string(r.Output) != "2\n" {
		t.Errorf("%q, %v", r.Output, err)
	}
}

// TestWorkIsShared writes a file from outside and reads it inside, and the reverse.
func TestWorkIsShared(t *testing.T) {
	b := start(t)
	if err := os.WriteFile(b.Path("in"), []byte("hello"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r, err := b.Run(shell("tr a-z A-Z <in >out")); err != nil || r.Status != 0 {
		t.Fatal(r, err)
	}
	if got, err := os.ReadFile(b.Path("out")); err != nil || string(got) != "HELLO" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := b.Run(Command{Argv: []string{"no-such-program"}, Time: time.Second,
		OutputBytes: 1}); err == nil {
		t.Error("a program that does not exist ran")
	}
}

// TestStarterIsKilled checks that the box and its programs end with the process that started it: a
// kill -9 of it closes the pipe of the requests, and does no more.
func TestStarterIsKilled(t *testing.T) {
	b, err := Start(Config{WorkBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	started := make(chan error, 1)
	go func() {
		_, err := b.Run(shell("touch runs; sleep 1000"))
		started <- err
	}()
	for _, err = os.Stat(b.Path("runs")); err != nil; _, err = os.Stat(b.Path("runs")) {
		time.Sleep(10 * time.Millisecond)
	}
	if err := b.requests.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-started; err == nil {
		t.Error("the program ran to its end")
	}
	if err := b.cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// TestStop ends a program from outside, and the box runs the next one.
func TestStop(t *testing.T) {
	b := start(t)
	ended := make(chan Result, 1)
	go func() {
		c := shell("echo > started; sleep 100 & sleep 100")
		r, err := b.Run(c)
		if err != nil {
			t.Error(err)
		}
		ended <- r
	}()
	for {
		if _, err := os.Stat(b.Path("started")); err == nil {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if err := b.Stop(); err != nil {
		t.Fatal(err)
	}
	if r := <-ended; r.Signal != "SIGKILL" || r.TimedOut || r.Took > 9*time.Second {
		t.Errorf("%+v", r)
	}
	if r, err := b.Run(shell("exit 4")); err != nil || r.Status != 4 {
		t.Errorf("the next program: %+v, %v", r, err)
	}
}
