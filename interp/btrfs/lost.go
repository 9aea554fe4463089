package btrfs

import (
	"errors"
	"fmt"
	"slices"

	"fsward/interp"
	"fsward/interp/btrfs/ondisk"
)

// A lost device has no disk. Linux mounts a file system without it under the option degraded, as
// long as each chunk tolerates the loss (btrfs_check_rw_degradable). The addresses of a lost device
// are those of a disk that no Set can have, so that they differ from all others, and no read of
// them succeeds.

// isLost reports whether a device address is on a lost device.
func isLost(addr uint64) bool { return addr >= interp.Address(interp.MaxDisks, 0) }

// lacking returns the devices with one more that is lost.
func (d *devices) lacking(id uint64, uuid [16]byte) *devices {
	out := *d
	start := interp.Address(interp.MaxDisks+len(d.lost), 0)
	out.lost = append(slices.Clone(d.lost),
		device{id: id, uuid: uuid, start: start, size: interp.DiskStride})
	return &out
}

// degraded returns the devices with those that are lost. The chunk tree names them, and
// sys_chunk_array those that hold the chunk tree.
func (c *comparer) degraded(devs *devices) (*devices, error) {
	sb, start := devs.newest()
	cache := newNodeCache(sb.NodeSize(), sb.SectorSize(), 0)
	for {
		s, err := bootstrap(c.disk, sb, start+ondisk.SuperOffset, devs, cache)
		if err == nil {
			return s.withLost()
		}
		missing, ok := errors.AsType[*missingError](err)
		if !ok || len(devs.lost) == maxCopies { // no chunk tolerates so many
			return nil, baseline(err)
		}
		devs = devs.lacking(missing.id, missing.uuid)
	}
}

// tolerates returns an *interp.MissingDiskError if a chunk has more stripes on lost devices than
// its profile can do without (btrfs_raid_array.tolerated_failures). Under RAID6 that is one: the
// second parity is not used to read.
func (m *chunkMap) tolerates() error {
	for i := range m.chunks {
		c := &m.chunks[i]
		lost, tolerated := 0, c.copies-1
		for _, addr := range c.stripes {
			if isLost(addr) {
				lost++
			}
		}
		if c.parity > 0 {
			tolerated = 1
		}
		if lost > tolerated {
			return &interp.MissingDiskError{FS: ondisk.FSName, Device: fmt.Sprintf(
				"chunk %d has %d stripes on devices whose disks are missing, and can do without %d",
				c.logical, lost, tolerated)}
		}
	}
	return nil
}

// present returns the addresses of copies that are not on lost devices, or all of them if there
// would be none: the caller rebuilds the block from parity, or fails to read it.
func present(addrs [maxCopies]uint64, count int) ([maxCopies]uint64, int) {
	var found [maxCopies]uint64
	n := 0
	for _, addr := range addrs[:count] {
		if !isLost(addr) {
			found[n] = addr
			n++
		}
	}
	if n == 0 {
		return addrs, count
	}
	return found, n
}
