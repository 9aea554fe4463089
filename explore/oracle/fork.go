package oracle

import (
	"slices"

	"fsward/explore/crash"
	"fsward/interp"
)

// A question is something that a verdict can depend on: what a page holds, or which pages differ of those that keep wants.
type question struct {
	page uint64
	keep func(addr uint64) bool // nil: about the page
}

// A step is a question that was asked and its answer.
type step struct {
	question
	answer crash.Signature
}

// A fork is a state as it is compared with the known one. It notes what is asked of it.
type fork struct {
	state   *crash.State
	disk    *crash.Disk
	first   uint64   // number of the disk's first page
	differs []uint64 // numbers of the pages that differ from the known state
	asked   map[uint64]struct{}
	path    []step
}

var _ interp.Fork = (*fork)(nil)

func (o *Oracle) fork(s *crash.State) *fork {
	f := &fork{state: s, disk: s.Disk(o.options.Disk), first: interp.Address(o.options.Disk, 0) / crash.PageSize, asked: make(map[uint64]struct{})}
	f.differs = s.Differs(o.base)
	end := interp.Address(o.options.Disk+1, 0) / crash.PageSize
	f.differs = slices.DeleteFunc(f.differs, func(n uint64) bool { return n < f.first || n >= end })
	return f
}

// addr is the address on the disk of a page of the state.
func (f *fork) addr(number uint64) uint64 { return (number - f.first) * crash.PageSize }

// Size returns the size of the disk in bytes.
func (f *fork) Size() uint64 { return f.disk.Size() }

// ReadAt reads the disk.
func (f *fork) ReadAt(p []byte, off int64) (int, error) {
	f.note(uint64(off), uint64(len(p)))
	return f.disk.ReadAt(p, off)
}

func (f *fork) note(off, n uint64) {
	if n == 0 {
		return
	}
	for number := f.first + off/crash.PageSize; number <= f.first+(off+n-1)/crash.PageSize; number++ {
		if _, ok := f.asked[number]; !ok {
			f.asked[number] = struct{}{}
			f.path = append(f.path, step{question{page: number}, f.state.Page(number)})
		}
	}
}

// Same tells whether a range holds what it holds in the known state.
func (f *fork) Same(off, n uint64) bool {
	f.note(off, n)
	from := f.first + off/crash.PageSize
	i, _ := slices.BinarySearch(f.differs, from)
	return i == len(f.differs) || n == 0 || f.differs[i] > f.first+(off+n-1)/crash.PageSize
}

// Differing returns the addresses of the pages that differ and are wanted.
func (f *fork) Differing(keep func(addr uint64) bool) (addrs []uint64) {
	for _, number := range f.differs {
		if keep(f.addr(number)) {
			addrs = append(addrs, f.addr(number))
		}
	}
	f.path = append(f.path, step{question{keep: keep}, f.answer(question{keep: keep})})
	return addrs
}

// answer answers a question without noting it.
func (f *fork) answer(q question) (a crash.Signature) {
	if q.keep == nil {
		return f.state.Page(q.page)
	}
	for _, number := range f.differs {
		if q.keep(f.addr(number)) {
			page := f.state.Page(number)
			a[0], a[1] = a[0]+page[0], a[1]+page[1]
		}
	}
	return a
}

// frozen is the disk of a state that stays.
type frozen struct {
	*crash.Snapshot
	at, size uint64
}

// Size returns the size of the disk in bytes.
func (d frozen) Size() uint64 { return d.size }

// ReadAt reads the disk.
func (d frozen) ReadAt(p []byte, off int64) (int, error) {
	return d.Snapshot.ReadAt(p, off+int64(d.at))
}
