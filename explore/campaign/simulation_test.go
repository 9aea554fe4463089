package campaign

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// The campaign of BenchmarkSimulation: 3.8 million workloads in units of about a minute.
const (
	simulatedSize  = 3_800_000
	simulatedUnit  = 64
	simulatedTime  = time.Minute
	simulatedAwake = 8 // workers that publish a result at the same time
)

// A simulation has real workers, each with its own connection to a real server, whose units take
// virtual time.
type simulation struct {
	b     *testing.B
	q     *Queue
	clock *clock
	ended atomic.Int64 // units

	mu        sync.Mutex
	overheads []time.Duration
	last      time.Time     // when a unit ended; zero: the server was not closed yet
	away      time.Duration // longest time in which none did, after the server was closed
}

// BenchmarkSimulation measures the queue with 1,000 workers. The server is closed in the middle, as
// if its process had died.
func BenchmarkSimulation(b *testing.B) {
	for _, workers := range []int{100, 1000} {
		b.Run(fmt.Sprintf("%d workers", workers), func(b *testing.B) {
			for b.Loop() {
				simulate(b, workers)
			}
		})
	}
}

func simulate(b *testing.B, workers int) {
	b.Helper()
	dir := b.TempDir()
	d := testDefinition("a", simulatedSize, simulatedUnit)
	units := (d.Size()-1)/d.Unit + 1
	first := connect(b, dir)
	began := time.Now()
	s := &simulation{b: b, clock: newClock(simulatedAwake)}
	q, err := first.Create(b.Context(), d, Option{}) // with the lease that users have
	if err != nil {
		b.Fatal(err)
	}
	if s.q = q; s.q != nil {
		_, err = q.Submit(b.Context())
	}
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(units)/time.Since(began).Seconds(), "submitted/s")
	report(b, q, units)
	first.Close()
	began = time.Now()
	first = connect(b, dir)
	b.ReportMetric(time.Since(began).Seconds(), "start-queued-s")

	ctx, stop := context.WithCancel(b.Context())
	defer stop()
	var list []*Client
	var all sync.WaitGroup
	for i := range workers {
		c := connect(b, dir)
		list = append(list, c)
		all.Go(func() { run(b, s.worker(c, i)) })
	}
	go s.clock.run(ctx)
	began = time.Now()
	s.watch(ctx, first, int64(units))
	all.Wait()
	b.ReportMetric(float64(units)/time.Since(began).Seconds(), "units/s")
	b.ReportMetric(s.clock.now.Minutes(), "virtual-min")
	s.finish(dir, units)
	for _, c := range list {
		c.Close()
	}
	began = time.Now()
	last := connect(b, dir)
	b.ReportMetric(time.Since(began).Seconds(), "start-done-s")
	if s.q, err = last.Open(b.Context(), "a"); err != nil {
		b.Fatal(err)
	}
	isDone(b, s.q, simulatedSize)
}

// worker returns a worker whose units take virtual time. Its time at the server is real, and is
// added.
func (s *simulation) worker(c *Client, i int) *Worker {
	var woke time.Time
	local := time.Duration(0) // virtual time of this worker
	w := newWorker(c, fmt.Sprintf("machine-%d", i), func(ctx context.Context, _ Task) (Done, error) {
		overhead := time.Duration(0)
		if !woke.IsZero() {
			overhead = time.Since(woke)
			s.mu.Lock()
			s.overheads = append(s.overheads, overhead)
			s.mu.Unlock()
		}
		local += overhead + simulatedTime/2 + rand.N(simulatedTime)
		err := s.clock.sleep(ctx, local)
		woke = time.Now()
		return Done{}, err
	})
	w.OnEvent = func(e Event) {
		if e.Event != "tested" {
			return
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.ended.Add(1); !s.last.IsZero() {
			s.away = max(s.away, time.Since(s.last))
			s.last = time.Now()
		}
		s.clock.release()
	}
	return w
}

// watch closes the server when half of the units have ended, and returns then.
func (s *simulation) watch(ctx context.Context, c *Client, units int64) {
	for s.ended.Load() < units/2 && ctx.Err() == nil {
		time.Sleep(50 * time.Millisecond)
	}
	q, err := c.Open(ctx, "a")
	if err != nil {
		s.b.Fatal(err)
	}
	began := time.Now()
	status(s.b, q)
	s.b.ReportMetric(time.Since(began).Seconds(), "status-half-s")
	s.mu.Lock()
	s.last = time.Now()
	s.mu.Unlock()
	c.Close() // which has the server
}

// finish reports what the campaign took.
func (s *simulation) finish(dir string, units uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	slices.Sort(s.overheads)
	n := len(s.overheads)
	for _, p := range []int{50, 99} {
		s.b.ReportMetric(s.overheads[n*p/100].Seconds()*1e3, fmt.Sprintf("overhead-p%d-ms", p))
	}
	s.b.ReportMetric(s.away.Seconds(), "away-s")
	s.b.ReportMetric(float64(folderSize(s.b, dir))/float64(units), "done-B/unit")
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		s.b.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var kib float64
		if _, err := fmt.Sscanf(line, "VmHWM: %f kB", &kib); err == nil {
			s.b.ReportMetric(kib/1024, "peak-MiB")
		}
	}
}
