package interp

import (
	"runtime"
	"runtime/metrics"

	"fsward/change"
)

const (
	// largeRecords is the number of records from which MoveRecords looks at the memory of the process.
	largeRecords = 1 << 17
	recordSize   = 80 // of a change.Record, at most, in bytes
)

// MoveRecords moves records to a slice with a capacity. Unlike slices.Grow it does not clear the
// rest, since clearing many megabytes takes as long as filling them.
//
// The runtime starts a collection after a large allocation, and not before. A slice of 400 MB would
// stand beside as much garbage, and the process would exceed its limit. So MoveRecords collects the
// garbage first.
func MoveRecords(from []change.Record, capacity int) []change.Record {
	if capacity >= largeRecords && beyondLimit(uint64(capacity)*recordSize) {
		runtime.GC()
	}
	records := make([]change.Record, len(from), capacity)
	copy(records, from)
	return records
}

// beyondLimit reports whether the heap, garbage included, and bytes more would exceed the soft
// memory limit of the process.
func beyondLimit(bytes uint64) bool {
	samples := []metrics.Sample{
		{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/gc/gomemlimit:bytes"},
	}
	metrics.Read(samples)
	heap, limit := samples[0].Value, samples[1].Value
	return heap.Kind() == metrics.KindUint64 && limit.Kind() == metrics.KindUint64 &&
		heap.Uint64()+bytes > limit.Uint64()
}
