package campaign

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// smallDisk mounts a file system with few bytes, and returns its folder.
func smallDisk(t *testing.T, size string) string {
	t.Helper()
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Fatalf("a tmpfs, for which this test needs root: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// fill writes a file that leaves no space, and returns its path.
func fill(t *testing.T, dir string) string {
	t.Helper()
	path := filepath.Join(dir, "filler")
	f, err := os.Create(path)
	if err != nil {
		t.Error(err)
		return path
	}
	defer f.Close()
	for block := make([]byte, 4096); ; {
		if _, err := f.Write(block); err != nil {
			return path
		}
	}
}

// If the disk of the server is full, the worker says so and waits. It goes on when there is space,
// and everything counts once.
func TestFullDisk(t *testing.T) {
	dir := smallDisk(t, "32m")
	c := connect(t, filepath.Join(dir, "campaign"))
	const n = 300
	q := submitted(t, c, testDefinition("a", n, 1))
	var once sync.Once
	w := newWorker(c, "w", func(_ context.Context, task Task) (Done, error) {
		if task.Unit.From == 60 {
			once.Do(func() { fill(t, dir) })
		}
		return Done{Exit: 1, Findings: []Found{{Kind: "lost", Count: 1}}}, nil
	})
	w.Slots = 2
	said := make(chan string, 1)
	w.OnEvent = func(e Event) {
		if e.Event == "trouble" && strings.Contains(e.Text, "no space left on device in "+dir) {
			select {
			case said <- e.Text:
			default:
			}
		}
	}
	var all sync.WaitGroup
	all.Go(func() { run(t, w) })
	select {
	case text := <-said:
		t.Log(text)
	case <-time.After(time.Minute):
		t.Error("nobody says that the disk is full")
	}
	other, err := Connect(t.Context(), Address{Dir: filepath.Join(dir, "campaign")}, false)
	if err == nil || !strings.Contains(err.Error(), "no space left") {
		t.Errorf("another process: %v", err)
	}
	if err == nil {
		other.Close()
	}
	time.Sleep(testLease)
	if err := os.Remove(filepath.Join(dir, "filler")); err != nil {
		t.Error(err)
	}
	all.Wait()
	s := isDone(t, q, n)
	list, bad, err := q.Findings(t.Context())
	if err != nil || bad != 0 || len(list) != 1 || s.Found(list[0].Key) != n || s.Differences != 0 {
		t.Errorf("%+v, %d bad, %v; %+v", list, bad, err, s.Tally)
	}
}

// A submitter whose server has no space ends with an error that says so. Submitting again queues
// the rest.
func TestFullDiskSubmit(t *testing.T) {
	dir := smallDisk(t, "16m")
	c := connect(t, filepath.Join(dir, "campaign"))
	const n = 20_000
	q, err := c.Create(t.Context(), testDefinition("a", n, 1), Option{Lease: testLease})
	if err != nil {
		t.Fatal(err)
	}
	path := fill(t, dir)
	if _, err := q.Submit(t.Context()); err == nil || !strings.Contains(err.Error(), "no space left") {
		t.Errorf("%v", err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	wait(t, func() bool { return c.Trouble() == nil })
	if _, err := q.Submit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s := status(t, q); s.Waiting != n || s.Left != n || s.State != "running" {
		t.Errorf("%+v", s)
	}
}
