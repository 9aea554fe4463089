package campaign

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// While the server is away a worker finishes its unit, and waits. Its result counts when the server
// is back, and the unit does not run again.
func TestServerAway(t *testing.T) {
	dir := t.TempDir()
	server, err := StartServer(dir)
	if err != nil {
		t.Fatal(err)
	}
	c := connect(t, dir) // through the socket, as another process
	if c.folder.server != nil {
		t.Fatal("there are two servers")
	}
	submitted(t, c, testDefinition("a", 6, 2))
	began, finish := make(chan struct{}, 3), make(chan struct{})
	var seen runs
	w := newWorker(c, "w", func(_ context.Context, task Task) (Done, error) {
		seen.add(task.Unit)
		began <- struct{}{}
		<-finish
		return Done{Exit: 1, Findings: []Found{{Kind: "lost", Count: 1, Dir: t.TempDir()}}}, nil
	})
	var all sync.WaitGroup
	all.Go(func() { run(t, w) })
	<-began
	server.Close()
	held, err := lock(filepath.Join(dir, lockName)) // so that nobody has the server
	if err != nil {
		t.Fatal(err)
	}
	close(finish)
	time.Sleep(2 * testLease)
	held.Close() // now the process of the worker has it
	all.Wait()
	if c.folder.server == nil {
		t.Error("the server did not move")
	}
	q, err := c.Find(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	if s := isDone(t, q, 6); s.Errors != 1 || s.Results != 3 || s.Differences != 0 {
		t.Errorf("%+v %+v", s, s.Tally)
	}
	if units, most := seen.most(); units != 3 || most != 1 {
		t.Errorf("%d units ran, at most %d times", units, most)
	}
}

// A finding for whose files the server has no room is kept without them.
func TestNoRoom(t *testing.T) {
	c := connect(t, t.TempDir())
	q, err := c.Create(t.Context(), testDefinition("a", 1, 1), Option{Lease: testLease,
		Files: 256 << 10})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := q.Submit(t.Context()); err != nil {
		t.Fatal(err)
	}
	large, small := t.TempDir(), t.TempDir()
	random := make([]byte, 0, 1<<20) // does not get smaller when it is compressed
	for i := uint64(1); len(random) < cap(random); i++ {
		random = append(random, shortHash(string(rune(i)))...)
	}
	for dir, text := range map[string][]byte{large: random, small: []byte("x")} {
		if err := os.WriteFile(filepath.Join(dir, "disk0.base.zst"), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	run(t, newWorker(c, "w", func(context.Context, Task) (Done, error) {
		return Done{Exit: 1, Findings: []Found{{Kind: "large", Count: 1, Dir: large},
			{Kind: "small", Count: 1, Dir: small}}}, nil
	}))
	isDone(t, q, 1)
	list, _, err := q.Findings(t.Context())
	if err != nil || len(list) != 2 || list[0].Object != "" || list[1].Object == "" ||
		!strings.Contains(list[0].Note, "could not be kept") {
		t.Errorf("%+v, %v", list, err)
	}
}

// TestAlone checks that a process knows whether another one uses the queue of its folder.
func TestAlone(t *testing.T) {
	dir := t.TempDir()
	first := connect(t, dir)
	if !first.Alone() {
		t.Error("the only process is not alone")
	}
	second, err := Connect(t.Context(), Address{Dir: dir}, false)
	if err != nil {
		t.Fatal(err)
	}
	if first.Alone() || second.Alone() {
		t.Error("one of two processes is alone")
	}
	second.Close()
	for end := time.Now().Add(time.Minute); !first.Alone(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("a process that ended still counts")
		}
	}
}
