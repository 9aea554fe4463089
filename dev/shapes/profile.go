package main

import (
	"errors"
	"os"
	"path/filepath"
	"runtime/metrics"
	"runtime/pprof"
	"time"
)

// A profiler writes profiles of this process to a folder: cpu.pprof, and heap.pprof as it was when
// the heap was largest. The zero value writes nothing.
type profiler struct{ dir string }

// run runs f and profiles it.
func (p profiler) run(f func() error) error {
	if p.dir == "" {
		return f()
	}
	cpu, err := os.Create(filepath.Join(p.dir, "cpu.pprof"))
	if err != nil {
		return err
	}
	if err := pprof.StartCPUProfile(cpu); err != nil {
		return errors.Join(err, cpu.Close())
	}
	stop, failed := make(chan struct{}), make(chan error)
	go func() { failed <- p.heaps(stop) }()
	err = f()
	close(stop)
	pprof.StopCPUProfile()
	return errors.Join(err, <-failed, cpu.Close())
}

// heaps writes heap.pprof each time that the heap has grown by a tenth, until stop is closed.
func (p profiler) heaps(stop <-chan struct{}) error {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	largest := uint64(16 << 20)
	for {
		select {
		case <-stop:
			return nil
		case <-time.After(20 * time.Millisecond):
		}
		metrics.Read(sample)
		if n := sample[0].Value.Uint64(); n > largest+largest/10 {
			largest = n
			f, err := os.Create(filepath.Join(p.dir, "heap.pprof"))
			if err != nil {
				return err
			}
			if err := errors.Join(pprof.WriteHeapProfile(f), f.Close()); err != nil {
				return err
			}
		}
	}
}
