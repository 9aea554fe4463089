package ext3

import (
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
)

// TestRoles compares Roles with a map.
func TestRoles(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	r, want := NewRoles(), map[uint32]Role{}
	at := uint32(0)
	for n := range 200_000 {
		if n%1000 == 0 {
			at = random.Uint32()
		}
		block := at + uint32(random.IntN(2000))
		if random.IntN(3) == 0 {
			r.delete(block)
			delete(want, block)
		} else {
			role := Role{random.Uint32(), uint8(random.IntN(256)), random.Uint32()}
			r.set(block, role)
			want[block] = role
		}
		if got, ok := r.Get(block); got != want[block] || ok != (want[block] != Role{}) {
			t.Fatalf("block %d has role %v, want %v", block, got, want[block])
		}
	}
	if r.Len() != len(want) {
		t.Errorf("%d roles, want %d", r.Len(), len(want))
	}
	var blocks []uint32
	for block, role := range r.All() {
		if blocks = append(blocks, block); role != want[block] {
			t.Errorf("block %d has role %v, want %v", block, role, want[block])
		}
	}
	if !slices.Equal(blocks, slices.Sorted(maps.Keys(want))) {
		t.Error("All does not yield the blocks in order")
	}
	entries := 0
	for _, page := range r.pages {
		entries += cap(page)
	}
	if r.entries != entries {
		t.Errorf("the pages have room for %d entries, %d are counted", entries, r.entries)
	}
	for block := range want {
		r.delete(block)
	}
	if r.bytes() != 0 || r.Len() != 0 {
		t.Errorf("%d bytes are left", r.bytes())
	}
}

// TestRolesMemory checks what roles take, and that the default memory is enough for the indirect
// blocks of the largest ext3, 16 TiB full of large files, and for as many directories.
func TestRolesMemory(t *testing.T) {
	const quarter = 64 << 20
	for _, tc := range []struct {
		name     string
		n, apart uint32
	}{{"indirect blocks", 1<<22 - 1, 1024}, {"directories", 4_000_000, 1}} {
		before := heapInUse()
		r := NewRoles()
		for i := range tc.n {
			r.set(i*tc.apart, Role{i, 1, i})
		}
		took := heapInUse() - before
		if r.check(0, quarter) != nil || took > quarter || r.bytes() < took*9/10 {
			t.Errorf("%d %s take %d bytes, and %d are counted", tc.n, tc.name, took, r.bytes())
		}
		t.Logf("%s: %.1f bytes each", tc.name, float64(took)/float64(tc.n))
		runtime.KeepAlive(r)
	}
}

// heapInUse returns the bytes of the objects in use. What a sync.Pool or a finalizer of an earlier
// test holds is free after the second and the third collection.
func heapInUse() uint64 {
	for range 3 {
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
