package campaign

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// runsEachOnce has a worker test a campaign of 20 indexes in 5 units, each of which must run once.
func runsEachOnce(t *testing.T, c *Client, q *Queue) {
	t.Helper()
	var seen runs
	run(t, newWorker(c, "w", func(_ context.Context, task Task) (Done, error) {
		seen.add(task.Unit)
		return Done{}, nil
	}))
	isDone(t, q, 20)
	if units, most := seen.most(); units != 5 || most != 1 {
		t.Errorf("%d units ran, at most %d times", units, most)
	}
}

// A worker that ends without a word loses its unit to another, and the unit counts once.
func TestLostWorker(t *testing.T) {
	c := connect(t, t.TempDir())
	q := submitted(t, c, testDefinition("a", 20, 4))
	if l, err := q.fetch(time.Second); l == nil || err != nil { // and nothing is heard of it
		t.Fatalf("%v, %v", l, err)
	}
	runsEachOnce(t, c, q)
}

// A worker that was silent for longer than its lease, as behind a network partition, finishes its
// unit after another has. It counts once. If the two disagree, that is reported.
func TestLateWorker(t *testing.T) {
	c := connect(t, t.TempDir())
	q := submitted(t, c, testDefinition("a", 4, 4))
	late, err := q.fetch(time.Second)
	if late == nil || err != nil {
		t.Fatalf("%v, %v", late, err)
	}
	run(t, newWorker(c, "prompt", func(context.Context, Task) (Done, error) { return Done{}, nil }))
	isDone(t, q, 4)
	w := newWorker(c, "late", nil)
	same := Done{}
	other := Done{Exit: 1, Findings: []Found{{Kind: "lost", Count: 1}}}
	for i, d := range []Done{same, other, other} {
		if err := w.record(t.Context(), q, late.unit, d, time.Second); err != nil {
			t.Fatal(err)
		}
		if err := late.done(t.Context()); err != nil {
			t.Fatal(err)
		}
		if s := isDone(t, q, 4); s.Differences != uint64(min(i, 1)) {
			t.Errorf("%d differences after result %d", s.Differences, i)
		}
	}
}

// A unit with a result is taken out of the queue and not run, as after a crash between the two.
func TestResultWithoutAcknowledgment(t *testing.T) {
	c := connect(t, t.TempDir())
	q := submitted(t, c, testDefinition("a", 8, 4))
	u := Unit{q.digest, 0, 3}
	w := newWorker(c, "w", func(_ context.Context, task Task) (Done, error) {
		if task.Unit == u {
			t.Error("a unit that is done runs again")
		}
		return Done{}, nil
	})
	if err := w.record(t.Context(), q, u, Done{}, time.Second); err != nil {
		t.Fatal(err)
	}
	run(t, w)
	if s := isDone(t, q, 8); s.Results != 2 {
		t.Errorf("%d results", s.Results)
	}
}

// Units that the server lost, as after a loss of power, are queued again by a worker that has none.
func TestLostUnits(t *testing.T) {
	c := connect(t, t.TempDir())
	q := submitted(t, c, testDefinition("a", 20, 4))
	lost := Unit{q.digest, 8, 11}
	if err := q.units.Purge(t.Context(), jetstream.WithPurgeSubject(
		unitSubject("a", lost.ID()))); err != nil {
		t.Fatal(err)
	}
	if s := status(t, q); s.Waiting != 4 || s.Left != 20 {
		t.Fatalf("%+v", s)
	}
	runsEachOnce(t, c, q)
}

// One case that cannot be run is found by splitting its unit. The others are tested, once.
func TestPoison(t *testing.T) {
	c := connect(t, t.TempDir())
	q := submitted(t, c, testDefinition("a", 64, 16))
	w := newWorker(c, "w", func(_ context.Context, task Task) (Done, error) {
		if task.Unit.From <= 37 && 37 <= task.Unit.To {
			return Done{}, errors.New("the guest died")
		}
		return Done{}, nil
	})
	var mu sync.Mutex
	var events []string
	w.OnEvent = func(e Event) {
		mu.Lock()
		defer mu.Unlock()
		if e.Event == "split" || e.Event == "poisoned" {
			events = append(events, e.Event+" "+e.Unit)
		}
	}
	run(t, w)
	s := status(t, q)
	want := []string{"split 32-47", "split 32-39", "split 36-39", "split 36-37", "poisoned 37-37"}
	if s.Tested != 63 || s.Poisoned != 1 || s.Left != 0 || s.Splits != 4 ||
		!slices.Equal(events, want) {
		t.Errorf("%+v %+v %q", s, s.Tally, events)
	}
	list, _, err := q.Findings(t.Context())
	if err != nil || len(list) != 1 || list[0].Unit != "37-37" || list[0].Summary != "the guest died" {
		t.Errorf("%+v, %v", list, err)
	}
	if n, err := q.Submit(t.Context()); n != 0 || err != nil {
		t.Errorf("submitted again: %d, %v", n, err)
	}
}

// The result of a whole unit does not count any more when the unit was split. The halves that are
// missing are queued again, by a worker or by resume.
func TestSplitFirst(t *testing.T) {
	c := connect(t, t.TempDir())
	q := submitted(t, c, testDefinition("a", 4, 4))
	u := Unit{q.digest, 0, 3}
	w := newWorker(c, "w", func(context.Context, Task) (Done, error) { return Done{}, nil })
	// The worker that splits the unit is killed before it queues the halves.
	if _, err := q.publish(t.Context(), &Result{Unit: u, Outcome: Split, Worker: "x"}); err != nil {
		t.Fatal(err)
	}
	if n, err := q.Submit(t.Context()); n != 2 || err != nil {
		t.Errorf("the halves: %d units, %v", n, err)
	}
	if err := w.record(t.Context(), q, u, Done{}, time.Second); err != nil {
		t.Fatal(err)
	}
	run(t, w)
	if s := isDone(t, q, 4); s.Results != 3 {
		t.Errorf("%d results", s.Results)
	}
}

// A worker on which nothing can be run ends, before it makes findings of the units.
func TestBrokenWorker(t *testing.T) {
	c := connect(t, t.TempDir())
	q := submitted(t, c, testDefinition("a", 10, 1))
	w := newWorker(c, "w", func(context.Context, Task) (Done, error) {
		return Done{}, errors.New("there is no QEMU")
	})
	if err := w.Run(t.Context()); err == nil || !errors.Is(err, ErrBroken) {
		t.Errorf("%v", err)
	}
	if s := status(t, q); s.Left != 10 || s.Poisoned != 0 {
		t.Errorf("%+v", s)
	}
	run(t, newWorker(c, "w2", func(context.Context, Task) (Done, error) { return Done{}, nil }))
	isDone(t, q, 10)
}

// The halves of a unit that fails are no reason to end: they fail because of one case.
func TestBrokenByHalves(t *testing.T) {
	var f failures
	for i, u := range []Unit{{"a", 0, 7}, {"a", 4, 7}, {"a", 4, 5}, {"a", 4, 4}, {"b", 4, 4}} {
		if f.failed(u) {
			t.Errorf("failure %d ends the worker", i)
		}
	}
	if !f.failed(Unit{"a", 8, 15}) {
		t.Error("three units failed, and the worker goes on")
	}
}

// A campaign of another version is refused.
func TestRefusedVersion(t *testing.T) {
	c := connect(t, t.TempDir())
	submitted(t, c, testDefinition("a", 10, 1))
	w := newWorker(c, "w", nil)
	w.Campaign = "a"
	refused := errors.New("of another version")
	w.Check = func(*Definition) error { return refused }
	if err := w.Run(t.Context()); !errors.Is(err, refused) {
		t.Errorf("%v", err)
	}
}

// A worker that is to end when the queues are empty fails if it refused all campaigns, but not if
// it could run one, or if none needs a worker.
func TestAllRefused(t *testing.T) {
	c := connect(t, t.TempDir())
	submitted(t, c, testDefinition("a", 3, 1))
	w := newWorker(c, "w", nil)
	refused := errors.New("of another version")
	w.Check = func(d *Definition) error {
		if d.Name == "a" {
			return refused
		}
		return nil
	}
	if err := w.Run(t.Context()); !errors.Is(err, refused) || !errors.Is(err, ErrBroken) {
		t.Errorf("all were refused: %v", err)
	}
	q, err := c.Find(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	if err := q.SetState(t.Context(), Canceled); err != nil {
		t.Fatal(err)
	}
	if err := w.Run(t.Context()); err != nil {
		t.Errorf("the only campaign is canceled: %v", err)
	}
	submitted(t, c, testDefinition("b", 3, 1))
	submitted(t, c, testDefinition("c", 3, 1))
	w.Check = func(d *Definition) error {
		if d.Name == "c" {
			return refused
		}
		return nil
	}
	w.Runner = newWorker(c, "w", func(context.Context, Task) (Done, error) {
		return Done{}, nil
	}).Runner
	if err := w.Run(t.Context()); err != nil {
		t.Errorf("one was not refused: %v", err)
	}
}

// A request to end gives the unit back at once.
func TestAskedToEnd(t *testing.T) {
	c := connect(t, t.TempDir())
	q := submitted(t, c, testDefinition("a", 3, 1))
	ctx, end := context.WithCancel(t.Context())
	var began atomic.Bool
	w := newWorker(c, "w", func(ctx context.Context, _ Task) (Done, error) {
		began.Store(true)
		<-ctx.Done()
		return Done{}, ctx.Err()
	})
	ended := make(chan error)
	go func() { ended <- w.Run(ctx) }()
	wait(t, began.Load)
	end()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	for range 3 {
		if l, err := q.fetch(testLease / 2); l == nil || err != nil {
			t.Errorf("%v, %v", l, err)
		}
	}
}

// Two campaigns of one server are both done by a worker.
func TestSeveralCampaigns(t *testing.T) {
	c := connect(t, t.TempDir())
	a := submitted(t, c, testDefinition("a", 10, 2))
	b := submitted(t, c, testDefinition("b", 10, 2))
	run(t, newWorker(c, "w", func(context.Context, Task) (Done, error) { return Done{}, nil }))
	isDone(t, a, 10)
	isDone(t, b, 10)
	if _, err := c.Find(t.Context(), ""); err == nil {
		t.Error("one of two campaigns was chosen")
	}
	other := testDefinition("a", 11, 2)
	if _, err := c.Create(t.Context(), other, Option{Lease: testLease}); err == nil {
		t.Error("a campaign took the name of another")
	}
	if _, err := c.Find(t.Context(), "c"); !errors.Is(err, ErrNone) {
		t.Errorf("%v", err)
	}
}
