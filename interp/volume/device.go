package volume

import (
	"errors"
	"fmt"
	"io"

	"fsward/interp"
	"fsward/interp/disk"
)

const (
	stride = interp.DiskStride
	sector = 512 // bytes
)

// A device is a whole disk or a partition of it.
type device struct {
	all  interp.Disk
	disk int    // number in all
	path string // "" or "p2"
	off  uint64 // first byte on the disk
	size uint64 // bytes
	// texts is the number of bytes of LVM's metadata that may still be read from the disk; its
	// partitions share it.
	texts *uint64
}

// newDevice returns disk i of all, as a whole.
func newDevice(all interp.Disk, i int, size uint64) device {
	texts := uint64(maxTexts)
	return device{all: all, disk: i, size: size, texts: &texts}
}

// at returns the address of a byte of the device.
func (d *device) at(off uint64) uint64 { return interp.Address(d.disk, d.off+off) }

// extent returns the addresses of a range of the device, cut at its end.
func (d *device) extent(off, n uint64) Extent {
	off = min(off, d.size)
	return Extent{d.at(off), min(n, d.size-off)}
}

// has reports whether the device has all bytes of a range. The check cannot overflow.
func (d *device) has(off, n uint64) bool { return off <= d.size && n <= d.size-off }

// read returns n bytes at off. ok is false if the device is too short. The caller bounds n.
func (d *device) read(off, n uint64) (r disk.Region, ok bool, err error) {
	if !d.has(off, n) {
		return disk.Region{}, false, nil
	}
	buf := make([]byte, n)
	got, err := d.all.ReadAt(buf, int64(d.at(off)))
	if got < len(buf) {
		if err == nil || errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return disk.Region{}, false, fmt.Errorf("cannot read %d bytes at byte %d of disk %d: %w",
			n, d.off+off, d.disk, err)
	}
	return disk.NewRegion(buf, d.at(off)), true, nil
}

// head returns the first n bytes of the device, fewer if it is shorter.
func (d *device) head(n uint64) (disk.Region, error) {
	r, _, err := d.read(0, min(n, d.size))
	return r, err
}
