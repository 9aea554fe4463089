package oracle

import (
	"slices"
	"sync"

	"fsward/explore/crash"
	"fsward/interp"
)

// A crashImage is a state as it is compared with the known one. It notes which of the pages in flight it is asked for: the others
// are the same in all states of the point. The rules read it in several goroutines.
type crashImage struct {
	state   *crash.State
	disk    *crash.Disk
	first   uint64   // number of the disk's first page
	differs []uint64 // numbers of the pages that differ from the known state

	mu    sync.Mutex
	asked map[uint64]struct{}
}

var _ interp.CrashImage = (*crashImage)(nil)

func (o *Oracle) image(s *crash.State) *crashImage {
	f := &crashImage{state: s, disk: s.Disk(o.options.Disk), first: interp.Address(o.options.Disk, 0) / crash.PageSize, asked: make(map[uint64]struct{})}
	end := interp.Address(o.options.Disk+1, 0) / crash.PageSize
	f.differs = slices.DeleteFunc(s.Differs(o.base), func(n uint64) bool { return n < f.first || n >= end })
	return f
}

// addr is the address on the disk of a page of the state.
func (f *crashImage) addr(number uint64) uint64 { return (number - f.first) * crash.PageSize }

// Size returns the size of the disk in bytes.
func (f *crashImage) Size() uint64 { return f.disk.Size() }

// ReadAt reads the disk.
func (f *crashImage) ReadAt(p []byte, off int64) (int, error) {
	f.note(uint64(off), uint64(len(p)))
	return f.disk.ReadAt(p, off)
}

func (f *crashImage) note(off, n uint64) {
	if n == 0 {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for number := f.first + off/crash.PageSize; number <= f.first+(off+n-1)/crash.PageSize; number++ {
		if f.state.InFlight(number) {
			f.asked[number] = struct{}{}
		}
	}
}

// Same tells whether a range holds what it holds in the known state.
func (f *crashImage) Same(off, n uint64) bool {
	f.note(off, n)
	from := f.first + off/crash.PageSize
	i, _ := slices.BinarySearch(f.differs, from)
	return i == len(f.differs) || n == 0 || f.differs[i] > f.first+(off+n-1)/crash.PageSize
}

// Differing returns the addresses of the pages that differ and are wanted.
func (f *crashImage) Differing(keep func(addr uint64) bool) (addrs []uint64) {
	for number := range f.state.AllInFlight() {
		if number >= f.first && f.addr(number) < f.Size() && keep(f.addr(number)) {
			f.note(f.addr(number), crash.PageSize)
		}
	}
	for _, number := range f.differs {
		if keep(f.addr(number)) {
			addrs = append(addrs, f.addr(number))
		}
	}
	return addrs
}

// snapshotDisk is the disk of a state that stays.
type snapshotDisk struct {
	*crash.Snapshot
	at, size uint64
}

// Size returns the size of the disk in bytes.
func (d snapshotDisk) Size() uint64 { return d.size }

// ReadAt reads the disk.
func (d snapshotDisk) ReadAt(p []byte, off int64) (int, error) {
	return d.Snapshot.ReadAt(p, off+int64(d.at))
}
