package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestProcessWithinItsMemory runs the guard in a control group that has the documented memory:
// --memory, --reserve and 96 MiB. A commit that is much larger holds, reports how far its judgment
// is, and the guard is not killed. Without a group its largest private memory has the same bound.
// The guest is outside the group: it would wait for the guard, and the guard for its memory.
func TestProcessWithinItsMemory(t *testing.T) {
	if os.Getuid() != 0 {
		t.Fatal("loop mounts need root: run the tests as root")
	}
	for fs, options := range map[string][]string{"btrfs": {"-q"}, "ext3": {"-qF", "-J", "size=512"}} {
		t.Run(fs, func(t *testing.T) { processWithinItsMemory(t, fs, options) })
	}
}

func processWithinItsMemory(t *testing.T, fs string, options []string) {
	image := filepath.Join(t.TempDir(), "image")
	run(t, "truncate", "-s", "2G", image)
	run(t, "mkfs."+fs, append(options, image)...)
	const memory = (64 + 64) << 20 // bytes
	const bound = memory + 96<<20
	group := newMemoryGroup(t, bound)
	d := startDaemon(t, image, "--memory", "64M", "--reserve", "64M")
	group.add(t, d.cmd.Process.Pid)
	m := d.mount(t, fs)
	run(t, "mount", "-o", "remount,commit=300", m.dir)
	run(t, "sh", "-ec", fmt.Sprintf(`cd %s; perl -e 'for (1..40000) {
		open $f, ">", "f$_" or die $!; print $f "contents of $_" }'; sync -f .`, m.dir))
	m.unmount(t)
	used := group.read(t, "memory.max_usage_in_bytes", "memory.peak")
	private := privateMemory(t, d.cmd.Process.Pid)
	d.stop(t, syscall.SIGTERM)
	if private > bound {
		t.Errorf("the process took %d bytes, and may take %d", private, bound)
	}
	most, held, progress := 0, time.Duration(0), 0
	for line := range strings.Lines(d.out.String()) {
		var ev struct {
			Verdict  string
			Records  int
			Check    time.Duration `json:"check_ns"`
			Progress struct{ What string }
		}
		if err := json.Unmarshal([]byte(line), &ev); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if ev.Verdict != "holds" {
			t.Errorf("not held: %s", line)
		}
		most, held = max(most, ev.Records), max(held, ev.Check)
		if ev.Progress.What == "commit" {
			progress++
		}
	}
	t.Logf("the largest commit had %d records and was held for %v; the group used at most %s bytes, "+
		"and the process %d",
		most, held, used, private)
	if most < memory/recordBytes {
		t.Errorf("the largest commit had %d records, too few to need more memory than there is", most)
	}
	if held > 3*time.Second && progress == 0 {
		t.Error("the judgment of the commit reported no progress")
	}
}

// recordBytes is about what a change record takes: see docs/user/guarding.md, "Memory".
const recordBytes = 200

// privateMemory returns the most memory that a process has had, in bytes, without the pages of its
// executable, which the kernel can drop.
func privateMemory(t *testing.T, pid int) int64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	kib := make(map[string]int64)
	for line := range strings.Lines(string(text)) {
		var name string
		var n int64
		if read, _ := fmt.Sscan(line, &name, &n); read == 2 {
			kib[name] = n
		}
	}
	if kib["VmHWM:"] == 0 || kib["RssFile:"] == 0 {
		t.Fatalf("the kernel does not say how much memory the process has: %s", text)
	}
	return (kib["VmHWM:"] - kib["RssFile:"]) << 10
}

// A memoryGroup is a control group with a limit of memory, of version 1 or 2.
type memoryGroup string

// newMemoryGroup makes a group that may use that many bytes. There is none ("") on a machine that
// shows no control groups, or only for reading.
func newMemoryGroup(t *testing.T, bytes uint64) memoryGroup {
	t.Helper()
	root, limit := "/sys/fs/cgroup/memory", "memory.limit_in_bytes"
	if _, err := os.Stat(root); err != nil {
		root, limit = "/sys/fs/cgroup", "memory.max"
	}
	dir, err := os.MkdirTemp(root, "fsward-test-")
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.EROFS) {
		t.Logf("no control group can be made: %v", err)
		return ""
	} else if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.Remove(dir); err != nil {
			t.Error(err)
		}
	})
	g := memoryGroup(dir)
	g.write(t, limit, strconv.FormatUint(bytes, 10))
	return g
}

// add moves a process into the group.
func (g memoryGroup) add(t *testing.T, pid int) {
	t.Helper()
	if g != "" {
		g.write(t, "cgroup.procs", strconv.Itoa(pid))
	}
}

func (g memoryGroup) write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(string(g), file), []byte(text), 0); err != nil {
		t.Fatal(err)
	}
}

// read returns the contents of the first of some files that exists, or "?".
func (g memoryGroup) read(t *testing.T, files ...string) string {
	t.Helper()
	for _, file := range files {
		if text, err := os.ReadFile(filepath.Join(string(g), file)); err == nil {
			return strings.TrimSpace(string(text))
		}
	}
	return "?"
}
