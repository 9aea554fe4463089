package explore

import (
	"fmt"
	"maps"
	"slices"

	"fsward/explore/agent"
	"fsward/explore/crash"
	"fsward/explore/ramdisk"
	"fsward/interp"
)

// memory is what a pristine disk holds: a crash.Base, and what a disk is read into.
type memory []byte

var _ crash.Base = memory(nil)

// Size returns the size in bytes.
func (m memory) Size() uint64 { return uint64(len(m)) }

// ReadAt reads.
func (m memory) ReadAt(b []byte, off int64) (int, error) {
	if err := m.bounds(b, off); err != nil {
		return 0, err
	}
	return copy(b, m[off:]), nil
}

// WriteAt writes.
func (m memory) WriteAt(b []byte, off int64) (int, error) {
	if err := m.bounds(b, off); err != nil {
		return 0, err
	}
	return copy(m[off:], b), nil
}

func (m memory) bounds(b []byte, off int64) error {
	if off < 0 || off > int64(len(m)) || len(b) > len(m)-int(off) {
		return fmt.Errorf("%d bytes at %d: outside the disk of %d bytes", len(b), off, len(m))
	}
	return nil
}

// pages are those in which a disk differs from the pristine ones, by number of the disk.
func (s *session) pages(disk *crash.State) map[uint32][]agent.Page {
	over := make(map[uint64][]byte)
	for ; disk != nil; disk = disk.From() {
		for addr, contents := range disk.Pages() {
			if _, is := over[addr]; !is {
				over[addr] = contents
			}
		}
	}
	out := make(map[uint32][]agent.Page)
	for _, addr := range slices.Sorted(maps.Keys(over)) {
		i, off := interp.Locate(addr)
		n := s.disks[i].Number
		out[n] = append(out[n], agent.Page{Number: off / ramdisk.PageSize, Data: over[addr]})
	}
	return out
}
