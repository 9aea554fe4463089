package campaign

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// BenchmarkQueue measures the queue alone: submitting units, the status of as many, and units whose
// test takes no time, with workers in this process.
func BenchmarkQueue(b *testing.B) {
	for _, n := range []uint64{2_000, 100_000} {
		b.Run(fmt.Sprintf("submit %d", n), func(b *testing.B) {
			for b.Loop() {
				began := time.Now()
				q := benchmarked(b, n)
				b.ReportMetric(float64(n)/time.Since(began).Seconds(), "units/s")
				report(b, q, n)
			}
		})
	}
	for _, workers := range []int{1, 2, 8, 64} {
		b.Run(fmt.Sprintf("work %d", workers), func(b *testing.B) {
			const n = 2_000
			b.StopTimer()
			for range b.N {
				q := benchmarked(b, n)
				b.StartTimer()
				work(b, q, workers)
				b.StopTimer()
				if s := isDone(b, q, n); s.Results != n {
					b.Errorf("%d results", s.Results)
				}
			}
			b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "units/s")
		})
	}
	b.Run("status 100000", func(b *testing.B) {
		q := benchmarked(b, 100_000)
		publishAll(b, q)
		timed := func(metric string) {
			began := time.Now()
			if s := status(b, q); s.Tested != 100_000 {
				b.Errorf("%d tested", s.Tested)
			}
			b.ReportMetric(time.Since(began).Seconds(), metric)
		}
		for b.Loop() {
			timed("all-s")
			if err := q.keep(b.Context()); err != nil {
				b.Fatal(err)
			}
			timed("kept-s")
		}
	})
}

// benchmarked returns a queue with n units.
func benchmarked(b *testing.B, n uint64) *Queue {
	b.Helper()
	return submitted(b, connect(b, b.TempDir()), testDefinition("a", n, 1))
}

// report reports the memory and the disk that a queue with n units takes, and the time of a status.
func report(b *testing.B, q *Queue, n uint64) {
	b.Helper()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	b.ReportMetric(float64(m.HeapInuse)/(1<<20), "heap-MiB")
	dir, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", q.client.folder.server.dir.Fd()))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(folderSize(b, dir))/float64(n), "disk-B/unit")
	began := time.Now()
	if s := status(b, q); s.Waiting != n {
		b.Errorf("%d units wait", s.Waiting)
	}
	b.ReportMetric(time.Since(began).Seconds(), "status-s")
}

// folderSize returns the bytes of the files in a folder.
func folderSize(b *testing.B, dir string) (size int64) {
	b.Helper()
	err := filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			size += info.Size()
		}
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return size
}

// work has workers test all units in no time.
func work(b *testing.B, q *Queue, workers int) {
	b.Helper()
	var all sync.WaitGroup
	for i := range workers {
		w := newWorker(q.client, fmt.Sprintf("w%d", i),
			func(context.Context, Task) (Done, error) { return Done{}, nil })
		all.Go(func() { run(b, w) })
	}
	all.Wait()
}

// publishAll publishes a result of each unit.
func publishAll(b *testing.B, q *Queue) {
	b.Helper()
	s := submitter{q: q}
	err := q.Definition.Units(func(u Unit) error {
		text, err := encode(&Result{Unit: u, Outcome: Tested, Worker: "w", Seconds: 60})
		if err != nil {
			return err
		}
		ack, err := q.client.js.PublishAsync(resultSubject("a", u.ID()), text)
		if s.batch = append(s.batch, ack); err == nil && len(s.batch) == submitBatch {
			err = s.wait(b.Context())
		}
		return err
	})
	if err == nil {
		err = s.wait(b.Context())
	}
	if err != nil {
		b.Fatal(err)
	}
}

// BenchmarkSpeedup measures what the queue leaves of the speed of n workers in this process, if
// each unit takes 200 ms: efficiency is the time without a queue by the time with it.
func BenchmarkSpeedup(b *testing.B) {
	const each, unitTime = 20, 200 * time.Millisecond
	for _, workers := range []int{1, 2, 4, 8, 16, 32, 64} {
		b.Run(strconv.Itoa(workers), func(b *testing.B) {
			for b.Loop() {
				speedup(b, workers, each, unitTime)
			}
		})
	}
}

// speedup has workers test some units each that take a time, and reports the efficiency. The time
// ends with the last unit: workers still wait for more then.
func speedup(b *testing.B, workers, each int, unitTime time.Duration) {
	b.Helper()
	n := uint64(workers * each)
	q := benchmarked(b, n)
	var left atomic.Int64
	left.Store(int64(n))
	var took time.Duration
	began := time.Now()
	var all sync.WaitGroup
	for i := range workers {
		w := newWorker(q.client, fmt.Sprintf("w%d", i), func(context.Context, Task) (Done, error) {
			time.Sleep(unitTime)
			return Done{}, nil
		})
		w.OnEvent = func(e Event) {
			if e.Event == "tested" && left.Add(-1) == 0 {
				took = time.Since(began)
			}
		}
		all.Go(func() { run(b, w) })
	}
	all.Wait()
	isDone(b, q, n)
	b.ReportMetric(float64(each)*unitTime.Seconds()/took.Seconds(), "efficiency")
	b.ReportMetric(float64(n)/took.Seconds(), "units/s")
}
