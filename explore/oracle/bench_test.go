package oracle

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"fsward/explore/crash"
)

// BenchmarkJudge forms the states of a recording of 64 MiB and judges them, with what is found of one state used for others
// and without, and has the file system's own checker judge some of them.
func BenchmarkJudge(b *testing.B) {
	for _, w := range workloads {
		if w.Size > 64<<20 {
			continue
		}
		r := record(b, w)
		disk := r.open(b)
		limit := crash.Options{Unit: 4096, Limit: 400, Seed: 1}
		for _, o := range []struct {
			name    string
			options Options
		}{{"pruned", Options{}}, {"each", Options{NoPrune: true}}} {
			b.Run(w.name+"/"+o.name, func(b *testing.B) {
				n := 0
				var took time.Duration
				b.ReportAllocs()
				for b.Loop() {
					oracle := r.oracle(b, o.options)
					start := time.Now()
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
				}
				b.ReportMetric(float64(n)/took.Seconds(), "states/s")
				b.ReportMetric(float64(took.Microseconds())/float64(n), "µs/state")
			})
		}
		b.Run(w.name+"/peer", func(b *testing.B) {
			image := filepath.Join(b.TempDir(), "state")
			n := 0
			var took time.Duration
			for b.Loop() {
				_, err := crash.Each(disk, crash.OpenTrace(r.log), crash.Options{Unit: 4096, Limit: 1}, func(s *crash.State) error {
					if n++; n%50 != 1 {
						return nil
					}
					r.save(b, s, image)
					start := time.Now()
					if bad, said := r.peer(b, image); bad {
						return fmt.Errorf("state %s: %s", s.ID(), said)
					}
					took += time.Since(start)
					return nil
				})
				if err != nil {
					b.Fatal(err)
				}
			}
			asked := (n + 49) / 50
			b.ReportMetric(float64(asked)/took.Seconds(), "states/s")
			b.ReportMetric(float64(took.Microseconds())/float64(asked), "µs/state")
		})
	}
}
