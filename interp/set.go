package interp

import (
	"fmt"
	"io"
)

// DiskStride is the distance between the first addresses of the disks of a Set, bytes. No disk may
// be larger.
const DiskStride = 1 << 48 // 256 TiB

// MaxDisks is the most disks that a Set may have, so that every address is a positive int64.
const MaxDisks = 1 << 14

// A Set is the disks of one guest as one address space: disk i begins at the address i·DiskStride.
// No disk has the addresses between the end of one disk and the start of the next. A single disk is
// the same as a Set of one.
type Set struct{ disks []Disk }

// NewSet returns a Set of disks in the order given. It returns an error if there are no disks, too
// many, or one that is too large.
func NewSet(disks ...Disk) (*Set, error) {
	if len(disks) == 0 || len(disks) > MaxDisks {
		return nil, fmt.Errorf("%d disks: want 1 to %d", len(disks), MaxDisks)
	}
	for i, d := range disks {
		if d.Size() > DiskStride {
			return nil, fmt.Errorf("disk %d has %d bytes: at most %d are supported", i, d.Size(),
				uint64(DiskStride))
		}
	}
	return &Set{disks}, nil
}

// Locate returns the disk that holds an address of a Set, and the offset on it.
func Locate(addr uint64) (disk int, off uint64) { return int(addr / DiskStride), addr % DiskStride }

// Address returns the address in a Set of an offset on one of its disks.
func Address(disk int, off uint64) uint64 { return uint64(disk)*DiskStride + off }

// Size returns the address at which the last disk ends.
func (s *Set) Size() uint64 {
	last := len(s.disks) - 1
	return Address(last, s.disks[last].Size())
}

// Sizes returns the sizes of the disks in bytes.
func (s *Set) Sizes() []uint64 {
	sizes := make([]uint64, len(s.disks))
	for i, d := range s.disks {
		sizes[i] = d.Size()
	}
	return sizes
}

// ReadAt reads from the disk that holds an address, up to its end.
func (s *Set) ReadAt(p []byte, addr int64) (int, error) {
	if addr < 0 {
		return 0, fmt.Errorf("cannot read at address %d", addr)
	}
	disk, off := Locate(uint64(addr))
	if disk >= len(s.disks) || off >= s.disks[disk].Size() {
		return 0, io.EOF
	}
	end := false
	if left := s.disks[disk].Size() - off; uint64(len(p)) > left {
		p, end = p[:left], true
	}
	n, err := s.disks[disk].ReadAt(p, int64(off))
	if err == nil && end {
		err = io.EOF
	}
	return n, err
}

// DiskSize returns the size of disk i in bytes.
func (s *Set) DiskSize(i int) uint64 { return s.disks[i].Size() }

// A Several is a Disk that consists of several: disk i begins at the address i·DiskStride. Sizes
// can change, and disks can be added at the end.
type Several interface {
	Disk
	Sizes() []uint64       // of the disks in bytes; 0 for a disk that is gone
	DiskSize(i int) uint64 // of disk i, which must be one of Sizes
}

// Sizes returns the sizes of the disks that d consists of, in bytes: those of a Several, or d's own
// size.
func Sizes(d Disk) []uint64 {
	if s, ok := d.(Several); ok {
		return s.Sizes()
	}
	return []uint64{d.Size()}
}

// Sub returns disk i of d. Its addresses begin at 0. A Disk that is not a Several has one disk:
// itself.
func Sub(d Disk, i int) Disk {
	if s, ok := d.(Several); ok {
		return &subDisk{s, i}
	}
	return d
}

// subDisk is one of several disks.
type subDisk struct {
	whole Several
	disk  int
}

func (d *subDisk) Size() uint64 { return d.whole.DiskSize(d.disk) }

func (d *subDisk) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 || uint64(off) >= d.Size() {
		return 0, io.EOF
	}
	return d.whole.ReadAt(p, int64(Address(d.disk, uint64(off))))
}
