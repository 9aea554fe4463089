package qemudisk

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// TestStopIsRepeated stops a process that ignores the first requests to end, as a
// qemu-storage-daemon does that gets one between the look at its flag and its sleep.
func TestStopIsRepeated(t *testing.T) {
	p := &process{ended: make(chan struct{})}
	p.cmd = exec.Command("sh", "-c",
		"trap 'n=$((n + 1)); [ $n -lt 3 ] || exit 0' TERM; echo ready; while :; do sleep 0.01; done")
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.run(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatalf("%q, %v", line, err)
	}
	if err := p.stop(); err != nil || p.cmd.ProcessState.ExitCode() != 0 {
		t.Errorf("stopped: %v, %v; want exit status 0", err, p.cmd.ProcessState)
	}
}

// TestOrphanIsAskedToEnd opens an image that a qemu-storage-daemon has open whose fsward is gone,
// and which did not hear that it was to end.
func TestOrphanIsAskedToEnd(t *testing.T) {
	path := create(t, "a.qcow2", Qcow2)
	image, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	marker, err := markerOf(image)
	if err = errors.Join(err, image.Close()); err != nil {
		t.Fatal(err)
	}
	// The process that took the lock ends; that of the image keeps it.
	qemu(t, "sh", "-c", fmt.Sprintf(`flock -x %s sh -c "qemu-storage-daemon --blockdev \
		driver=file,node-name=f,filename=%[1]s --pidfile %[2]s >%[1]s.said 2>&1 &"
		while ! test -s %[2]s; do sleep 0.01; done`, path, marker))
	t.Cleanup(func() { endOrphan(path) }) // if Open has not
	d, err := Open(t.Context(), path, Options{Format: Qcow2})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}

// TestMarkerOfANewFile compares the markers of a file and of another one with its inode number.
func TestMarkerOfANewFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.qcow2")
	seen := map[uint64]string{} // by inode number
	for range 1000 {
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		marker, err := markerOf(f)
		var st unix.Stat_t
		if err = errors.Join(err, unix.Fstat(int(f.Fd()), &st), f.Close(), os.Remove(path)); err != nil {
			t.Fatal(err)
		}
		if last, again := seen[st.Ino]; again {
			if last == marker {
				t.Errorf("a new file has the marker of an old one, %s", marker)
			}
			return
		}
		seen[st.Ino] = marker
	}
	t.Skip("this file system does not use inode numbers again")
}
