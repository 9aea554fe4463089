package interp

import (
	"math"
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

// beyondLimit reports whether the memory of the process, garbage included, and bytes more would
// exceed its soft limit.
func beyondLimit(bytes uint64) bool {
	used, limit := memoryInUse()
	return bytes > limit-min(used, limit)
}

// memoryInUse returns the memory of the process and its soft limit, in bytes. Like the runtime it
// counts stacks and what the allocator has for itself, which may be a tenth of the heap.
func memoryInUse() (used, limit uint64) {
	samples := []metrics.Sample{
		{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/free:bytes"},
		{Name: "/memory/classes/heap/released:bytes"}, {Name: "/gc/gomemlimit:bytes"},
	}
	metrics.Read(samples)
	var values [4]uint64
	for i, s := range samples {
		if s.Value.Kind() != metrics.KindUint64 {
			return 0, math.MaxUint64
		}
		values[i] = s.Value.Uint64()
	}
	return values[0] - values[1] - values[2], values[3]
}
