package oracle

import (
	"slices"
	"sync"

	"fsward/explore/crash"
	"fsward/interp"
)

// A crashImage is a state that is compared with the base state. It records which of the pages in
// flight are read; the other pages are the same in all states of the point. The goroutines of the
// rules read it concurrently.
type crashImage struct {
	state   *crash.State
	disk    interp.Disk
	first   uint64   // number of its first page
	differs []uint64 // numbers of the pages that differ from the base state, in order

	mu   sync.Mutex
	read map[uint64]struct{} // numbers of the pages in flight that were read
}

var _ interp.CrashImage = (*crashImage)(nil)

func (o *Oracle) image(s *crash.State) *crashImage {
	f := &crashImage{
		state: s,
		disk:  o.window.Of(s.Disk(o.options.Disk)),
		first: interp.Address(o.options.Disk, o.window.Off) / crash.PageSize,
		read:  make(map[uint64]struct{}),
	}
	end := f.first + (f.disk.Size()+crash.PageSize-1)/crash.PageSize
	f.differs = slices.DeleteFunc(s.Differs(o.snapshot), func(n uint64) bool {
		return n < f.first || n >= end
	})
	return f
}

// addr returns the address on the disk, in bytes, of a page of the state.
func (f *crashImage) addr(number uint64) uint64 { return (number - f.first) * crash.PageSize }

// Size returns the size of the disk in bytes.
func (f *crashImage) Size() uint64 { return f.disk.Size() }

// ReadAt reads from the disk.
func (f *crashImage) ReadAt(p []byte, off int64) (int, error) {
	f.record(uint64(off), uint64(len(p)))
	return f.disk.ReadAt(p, off)
}

// record records that a range was read.
func (f *crashImage) record(off, n uint64) {
	if n == 0 {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	last := f.first + (off+n-1)/crash.PageSize
	for number := f.first + off/crash.PageSize; number <= last; number++ {
		if f.state.InFlight(number) {
			f.read[number] = struct{}{}
		}
	}
}

// Same reports whether a range has the same contents as in the base state. It compares whole pages.
func (f *crashImage) Same(off, n uint64) bool {
	f.record(off, n)
	from := f.first + off/crash.PageSize
	i, _ := slices.BinarySearch(f.differs, from)
	return i == len(f.differs) || n == 0 || f.differs[i] > f.first+(off+n-1)/crash.PageSize
}

// Differing returns the addresses of the pages that differ from the base state and for which keep
// returns true, in order.
func (f *crashImage) Differing(keep func(addr uint64) bool) (addrs []uint64) {
	for number := range f.state.AllInFlight() {
		if number >= f.first && f.addr(number) < f.Size() && keep(f.addr(number)) {
			f.record(f.addr(number), crash.PageSize)
		}
	}
	for _, number := range f.differs {
		if keep(f.addr(number)) {
			addrs = append(addrs, f.addr(number))
		}
	}
	return addrs
}

// snapshotDisk is one disk of a snapshot.
type snapshotDisk struct {
	*crash.Snapshot
	at, size uint64 // bytes
}

// Size returns the size of the disk in bytes.
func (d snapshotDisk) Size() uint64 { return d.size }

// ReadAt reads from the disk.
func (d snapshotDisk) ReadAt(p []byte, off int64) (int, error) {
	return d.Snapshot.ReadAt(p, off+int64(d.at))
}
