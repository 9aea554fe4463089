package interp

import (
	"runtime"
	"runtime/debug"
	"sync"
	"testing"
)

// TestBeyondLimit checks that memory outside of the heap leaves less for records.
func TestBeyondLimit(t *testing.T) {
	const stacks, bytes = 64 << 20, 80 << 20
	runtime.GC()
	used, _ := memoryInUse()
	limit := used + bytes + stacks/2
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(int64(limit)))
	if beyondLimit(bytes) {
		t.Fatal("80 MiB are beyond a limit of 112 MiB more than is in use")
	}

	var deep sync.WaitGroup
	stop := make(chan struct{})
	defer close(stop)
	for range stacks >> 20 {
		deep.Add(1)
		go func() { descend(1<<20, func() { deep.Done(); <-stop }) }()
	}
	deep.Wait()
	if !beyondLimit(bytes) {
		t.Error("80 MiB are within a limit of 112 MiB, of which stacks have 64")
	}
}

// descend calls f with a stack of at least so many bytes.
//
//go:noinline
func descend(bytes int, f func()) byte {
	var frame [4096]byte
	if bytes > len(frame) {
		return frame[0] + descend(bytes-len(frame), f)
	}
	f()
	return frame[0]
}
