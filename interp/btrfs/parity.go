package btrfs

import (
	"crypto/subtle"

	"fsward/interp/btrfs/ondisk"
	"fsward/interp/disk"
)

// rebuild returns the block at a logical address from the other stripes of its row, as Linux does
// under RAID5 and RAID6 if it cannot use the block itself (btrfs_read_extent_buffer with mirror 2,
// raid56_parity_recover). The second stripe of parity is not used. If the block cannot be rebuilt,
// the error is that of reading it.
func (r *reader) rebuild(logical uint64, readErr error) (*ondisk.Node, error) {
	size := uint64(r.rules.nodeSize)
	c := r.chunks.find(logical, size)
	if c == nil || c.parity == 0 || len(c.stripes) > maxRebuilt {
		return nil, readErr
	}
	addrs, _ := c.locate(logical - c.logical)
	block, part := make([]byte, size), make([]byte, size)
	for _, addr := range c.others(logical - c.logical) {
		if readFull(r.disk, part, addr) != nil {
			return nil, readErr
		}
		subtle.XORBytes(block, block, part)
	}
	n, err := checkNode(disk.NewRegion(block, addrs[0]), logical, r.rules)
	if err != nil {
		return nil, readErr
	}
	return n, nil
}

// maxRebuilt bounds the stripes that are read to rebuild a block.
const maxRebuilt = 64

// others returns the device addresses of the bytes that add up, by XOR, to the byte at an offset in
// a chunk with parity: those of the other columns in its row, and that of the first parity.
func (c *chunk) others(off uint64) []uint64 {
	row, own := c.cell(off)
	at := row*ondisk.StripeLen + off%ondisk.StripeLen
	addrs := make([]uint64, 0, c.columns)
	for column := range c.columns + 1 {
		if column != own {
			addrs = append(addrs, c.stripes[c.stripe(row, column)]+at)
		}
	}
	return addrs
}
