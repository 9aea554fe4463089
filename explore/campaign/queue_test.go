package campaign

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// testLease is the lease of units in tests.
const testLease = 2 * time.Second

// testDefinition returns a campaign of n indexes in units of some.
func testDefinition(name string, n, unit uint64) Definition {
	d := NewDefinition(name, "b3")
	d.Flags = []Flag{{"fs", "ext3"}, {"set", "seq-1"}}
	d.Last, d.Unit, d.Build = n-1, unit, "test"
	return d
}

// connect returns a client of the server of a folder.
func connect(t testing.TB, dir string) *Client {
	t.Helper()
	c, err := Connect(t.Context(), Address{Dir: dir}, true)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// submitted returns a campaign whose units are queued.
func submitted(t testing.TB, c *Client, d Definition) *Queue {
	t.Helper()
	q, err := c.Create(t.Context(), d, Option{Lease: testLease})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := q.Submit(t.Context()); err != nil {
		t.Fatal(err)
	}
	return q
}

// A testRunner runs units in tests.
type testRunner func(ctx context.Context, t Task) (Done, error)

func (f testRunner) Run(ctx context.Context, t Task) (Done, error) { return f(ctx, t) }

// anyVersion is a Worker.Check.
func anyVersion(*Definition) error { return nil }

// newWorker returns a worker that ends when everything is done.
func newWorker(c *Client, name string, r testRunner) *Worker {
	return &Worker{Client: c, Runner: r, Name: name, Slots: 1, Check: anyVersion, UntilDone: true,
		failureWait: 50 * time.Millisecond}
}

// run runs a worker, and reports its error.
func run(t testing.TB, w *Worker) {
	t.Helper()
	if err := w.Run(t.Context()); err != nil {
		t.Errorf("worker %s: %v", w.Name, err)
	}
}

// status returns the status of a campaign, which must be exact.
func status(t testing.TB, q *Queue) *Status {
	t.Helper()
	s, err := q.Status(t.Context(), q.NewTally())
	if err != nil {
		t.Fatal(err)
	}
	if !s.Exact() {
		t.Errorf("not exact: %+v, %+v", s, s.Tally)
	}
	return s
}

// isDone fails unless all n indexes were tested once.
func isDone(t testing.TB, q *Queue, n uint64) *Status {
	t.Helper()
	s := status(t, q)
	if s.Tested != n || s.Left != 0 || s.Waiting+s.Leased != 0 || s.State != "done" {
		t.Errorf("%d tested, %d left, %d waiting, %d leased, %s", s.Tested, s.Left, s.Waiting, s.Leased,
			s.State)
	}
	return s
}

// runs counts how often each unit ran.
type runs struct {
	mu sync.Mutex
	m  map[string]int
}

func (r *runs) add(u Unit) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.m == nil {
		r.m = make(map[string]int)
	}
	r.m[u.ID()]++
}

// most returns the number of units, and the most that one ran.
func (r *runs) most() (units, most int) {
	for _, n := range r.m {
		most = max(most, n)
	}
	return len(r.m), most
}

// Units are divided among workers, and each runs once. Findings with the same key are one.
func TestWorkers(t *testing.T) {
	c := connect(t, t.TempDir())
	q := submitted(t, c, testDefinition("a", 100, 7))
	if n, err := q.Submit(t.Context()); n != 0 || err != nil {
		t.Errorf("submitted again: %d units, %v", n, err)
	}
	dir, text := t.TempDir(), []byte("creat foo\n")
	if err := os.WriteFile(filepath.Join(dir, "workload.txt"), text, 0o644); err != nil {
		t.Fatal(err)
	}
	var seen runs
	var each sync.WaitGroup // each worker gets a unit
	each.Add(3)
	work := func(task Task) Done {
		seen.add(task.Unit)
		return Done{Exit: 1, Findings: []Found{
			{Kind: "lost", Property: "fsync", Count: 2, Dir: dir, Summary: "/foo \x1b[31m"},
			{Kind: fmt.Sprintf("kind %d", task.Unit.From/50), Count: 1}}}
	}
	var all sync.WaitGroup
	for i := range 3 {
		var first sync.Once
		w := newWorker(c, fmt.Sprintf("w%d", i), func(_ context.Context, t Task) (Done, error) {
			first.Do(each.Done)
			each.Wait()
			return work(t), nil
		})
		w.Slots = 2
		all.Go(func() { run(t, w) })
	}
	all.Wait()
	s := isDone(t, q, 100)
	if units, most := seen.most(); units != 15 || most != 1 {
		t.Errorf("%d units ran, at most %d times", units, most)
	}
	if s.Errors != 3 || s.Results != 15 || len(s.Workers) != 3 || s.Differences != 0 {
		t.Errorf("%+v %+v", s, s.Tally)
	}
	list, bad, err := q.Findings(t.Context())
	if err != nil || bad != 0 || len(list) != 3 {
		t.Fatalf("%v, %d bad, %v", list, bad, err)
	}
	lost := list[2]
	if lost.Kind != "lost" || s.Found(lost.Key) != 30 || lost.Scope != "--fs=ext3" ||
		lost.Summary != "/foo ?[31m" {
		t.Errorf("%+v, %d times", lost, s.Found(lost.Key))
	}
	out := filepath.Join(t.TempDir(), "out")
	path, err := q.Unpack(t.Context(), lost, out)
	if err != nil {
		t.Fatal(err)
	}
	text, err = os.ReadFile(filepath.Join(path, "workload.txt"))
	if err != nil || string(text) != "creat foo\n" {
		t.Errorf("%q, %v", text, err)
	}
	if path, err := q.Unpack(t.Context(), list[0], out); path != "" || err != nil {
		t.Errorf("a finding without files: %q, %v", path, err)
	}
}

// A paused campaign gives no units; a canceled one ends those that run, and does not go on.
func TestStates(t *testing.T) {
	c := connect(t, t.TempDir())
	q := submitted(t, c, testDefinition("a", 40, 1))
	var began atomic.Int64
	finish := make(chan struct{})
	w := newWorker(c, "w", func(ctx context.Context, task Task) (Done, error) {
		began.Add(1)
		select {
		case <-ctx.Done():
			return Done{}, ctx.Err()
		case <-finish:
			return Done{}, nil
		}
	})
	var all sync.WaitGroup
	all.Go(func() { run(t, w) })
	for range 5 {
		finish <- struct{}{}
	}
	wait(t, func() bool { return began.Load() == 6 })
	set(t, q, Paused)
	time.Sleep(idleWait / 2) // the worker hears of it
	finish <- struct{}{}
	time.Sleep(idleWait)
	if s := status(t, q); s.State != "paused" || s.Tested != 6 || began.Load() != 6 {
		t.Errorf("paused: %s, %d tested, %d began", s.State, s.Tested, began.Load())
	}
	set(t, q, Running)
	for range 4 {
		finish <- struct{}{}
	}
	wait(t, func() bool { return began.Load() == 11 })
	set(t, q, Canceled)
	all.Wait()
	s := status(t, q)
	if s.State != "canceled" || s.Waiting != 0 || s.Tested != 10 {
		t.Errorf("canceled: %s, %d tested, %d waiting", s.State, s.Tested, s.Waiting)
	}
	if err := q.SetState(t.Context(), Running); err == nil {
		t.Error("a canceled campaign runs again")
	}
}

func set(t *testing.T, q *Queue, s State) {
	t.Helper()
	if err := q.SetState(t.Context(), s); err != nil {
		t.Fatal(err)
	}
}

// wait waits until a condition holds.
func wait(t testing.TB, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("what the test waits for does not happen")
		}
	}
}
