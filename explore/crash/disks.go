package crash

import (
	"fmt"

	"fsward/interp"
)

// Disks are several disks that crash together, as one base: byte off of disk i is at
// interp.Address(i, off). A page that reaches past the end of a disk is filled up with zeros.
type Disks struct{ disks []Base }

// Join makes one base of disks.
func Join(disks ...Base) *Disks { return &Disks{disks} }

// Size returns the address in bytes of the end of the last disk.
func (d *Disks) Size() uint64 {
	if len(d.disks) == 0 {
		return 0
	}
	last := len(d.disks) - 1
	return interp.Address(last, d.disks[last].Size())
}

// holds reports whether a range lies on one disk.
func (d *Disks) holds(off, n uint64) bool {
	i, at := interp.Locate(off)
	return i < len(d.disks) && at <= d.disks[i].Size() && n <= d.disks[i].Size()-at
}

// ReadAt reads from the disk that the address off is on. Bytes past its end are zeros.
func (d *Disks) ReadAt(p []byte, off int64) (int, error) {
	i, at := interp.Locate(uint64(off))
	if i >= len(d.disks) {
		return 0, fmt.Errorf("crash state: there is no disk %d", i)
	}
	size := d.disks[i].Size()
	n := min(uint64(len(p)), size-min(at, size))
	if n > 0 {
		if err := readFull(d.disks[i], p[:n], at); err != nil {
			return 0, err
		}
	}
	clear(p[n:])
	return len(p), nil
}

// A Disk is one disk of a state.
type Disk struct {
	state *State
	index int
	size  uint64
}

// Disk returns disk i of a state over several disks. A state over one disk returns that disk.
func (s *State) Disk(i int) *Disk {
	if d := joined(s.layer.base); d != nil {
		return &Disk{s, i, d.disks[i].Size()}
	}
	return &Disk{s, 0, s.Size()}
}

// joined returns the disks of a base, or of the base of a state. It returns nil for a single disk.
func joined(base Base) *Disks {
	switch b := base.(type) {
	case *Disks:
		return b
	case *State:
		return joined(b.layer.base)
	}
	return nil
}

// Size returns the size of the disk in bytes.
func (d *Disk) Size() uint64 { return d.size }

// ReadAt reads from the disk. A range that is not on the disk is an error.
func (d *Disk) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 || uint64(off) > d.size || uint64(len(p)) > d.size-uint64(off) {
		return 0, outside(len(p), off, d.size)
	}
	return d.state.ReadAt(p, int64(interp.Address(d.index, uint64(off))))
}

// outside is the error for a range that is not on a disk.
func outside(n int, off int64, size uint64) error {
	return fmt.Errorf("crash state: %d bytes at %d: outside the disk of %d bytes", n, off, size)
}

// Written reports whether a write of the log has reached the page of an address of the disk, in
// bytes.
func (d *Disk) Written(addr uint64) bool {
	number := interp.Address(d.index, addr) / PageSize
	if _, ok := d.state.over[number]; ok {
		return true
	}
	_, ok := d.state.layer.pages[number]
	return ok
}

// Failed reports whether a disk has reported before that a write failed.
func (d *Disk) Failed() bool { return d.state.layer.failed }

// Before returns the disk before the log.
func (d *Disk) Before() interp.Disk {
	if all := joined(d.state.layer.base); all != nil {
		return all.disks[d.index]
	}
	return d.state.layer.base
}
