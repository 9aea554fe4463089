package oracle

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"fsward/blocktap"
	"fsward/explore/crash"
)

// BenchmarkJudge judges the states of recordings of 64 MiB with pruning and without. For
// comparison, the file system's own checker checks every 50th state. states/cpu-s is by processor
// time.
func BenchmarkJudge(b *testing.B) {
	for _, w := range workloads {
		if w.Size > 64<<20 {
			continue
		}
		r := record(b, w)
		disk := r.open(b)
		b.Run(w.name+"/pruned", func(b *testing.B) { benchmarkOracle(b, r, disk, Options{}) })
		b.Run(w.name+"/each", func(b *testing.B) {
			benchmarkOracle(b, r, disk, Options{NoPrune: true})
		})
		b.Run(w.name+"/peer", func(b *testing.B) { benchmarkChecker(b, r, disk) })
	}
}

func benchmarkOracle(b *testing.B, r recording, disk blocktap.Disk, o Options) {
	limit := crash.Options{Unit: 4096, Limit: 400, Seed: 1}
	n := 0
	var took, used time.Duration
	b.ReportAllocs()
	for b.Loop() {
		oracle := r.oracle(b, o)
		start, ran := time.Now(), processorTime(b)
		_, err := crash.Each(disk, crash.OpenTrace(r.log), limit, func(s *crash.State) error {
			n++
			v, err := oracle.Judge(context.Background(), s)
			if err == nil && v.Kind() != "" {
				err = fmt.Errorf("state %s: %s", s.ID(), v)
			}
			return err
		})
		if err != nil {
			b.Fatal(err)
		}
		took += time.Since(start)
		used += processorTime(b) - ran
	}
	reportStates(b, n, took)
	b.ReportMetric(float64(n)/used.Seconds(), "states/cpu-s")
}

// processorTime returns the processor time of this process. Unlike the real time, it does not
// depend on what else the machine does.
func processorTime(b *testing.B) time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func benchmarkChecker(b *testing.B, r recording, disk blocktap.Disk) {
	limit := crash.Options{Unit: 4096, Limit: 1}
	image := filepath.Join(b.TempDir(), "state")
	n := 0
	var took time.Duration
	for b.Loop() {
		_, err := crash.Each(disk, crash.OpenTrace(r.log), limit, func(s *crash.State) error {
			if n++; n%50 != 1 {
				return nil
			}
			r.save(b, s, image)
			start := time.Now()
			if faulty, output := r.check(b, image); faulty {
				return fmt.Errorf("state %s: %s", s.ID(), output)
			}
			took += time.Since(start)
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	reportStates(b, (n+49)/50, took)
}

func reportStates(b *testing.B, n int, took time.Duration) {
	b.ReportMetric(float64(n)/took.Seconds(), "states/s")
	b.ReportMetric(float64(took.Microseconds())/float64(n), "µs/state")
}
