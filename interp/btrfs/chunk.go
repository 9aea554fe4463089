package btrfs

import (
	"fmt"
	"slices"

	"fsward/interp"
	"fsward/interp/disk"
)

const (
	chunkItemSize = 80 // struct btrfs_chunk with its first stripe
	stripeSize    = 32
	maxChunks     = 1 << 17 // of 1 GiB each that is 128 TiB
)

// A chunk is a run of logical addresses and where its copies lie on the device.
type chunk struct {
	logical, length uint64
	typ             uint64
	stripes         [2]uint64 // device addresses
	copies          int       // 1 (single) or 2 (DUP)
}

func (c *chunk) end() uint64 { return c.logical + c.length }

// parseChunk reads a chunk item as btrfs_check_chunk_valid does. deviceSize bounds the stripes.
func parseChunk(k key, r disk.Region, sectorSize uint32, devID, deviceSize uint64) (chunk, error) {
	bad := func(format string, args ...any) (chunk, error) {
		return chunk{}, violatedAt(chunkRule, r.Addr(), "chunk %d: "+format, append([]any{k.offset}, args...)...)
	}
	if r.Len() < chunkItemSize {
		return bad("the item has %d bytes, at least %d are needed", r.Len(), chunkItemSize)
	}
	c := chunk{logical: k.offset, length: r.U64(0), typ: r.U64(24)}
	n := int(r.U16(44))
	switch {
	case k.objectid != firstChunkTreeID:
		return bad("its objectid is %d", k.objectid)
	case n == 0 || r.Len() != chunkItemSize+(n-1)*stripeSize:
		return bad("num_stripes is %d in an item of %d bytes", n, r.Len())
	case c.logical%uint64(sectorSize) != 0 || c.length == 0 || c.length%uint64(sectorSize) != 0 || c.logical+c.length < c.logical:
		return bad("length %d", c.length)
	case r.U64(16) != stripeLen:
		return bad("stripe_len is %d, want %d", r.U64(16), stripeLen)
	case r.U32(40) != sectorSize:
		return bad("sector_size is %d, want %d", r.U32(40), sectorSize)
	case c.typ&groupTypes == 0 || c.typ&^(groupTypes|groupProfiles) != 0:
		return bad("type is %#x", c.typ)
	case c.typ&groupSystem != 0 && c.typ&groupTypes != groupSystem:
		return bad("type is %#x: SYSTEM stands alone", c.typ)
	}
	if p := c.typ & groupProfiles &^ groupDUP; p != 0 {
		return chunk{}, &interp.UnsupportedError{FS: fsName, Feature: fmt.Sprintf("the RAID profile of chunk %d (type %#x)", c.logical, c.typ)}
	}
	c.copies = 1
	if c.typ&groupDUP != 0 {
		c.copies = 2
	}
	if n != c.copies {
		return bad("num_stripes is %d with type %#x, want %d", n, c.typ, c.copies)
	}
	for i := range c.copies {
		at := 48 + i*stripeSize
		if id := r.U64(at); id != devID {
			return bad("stripe %d is on device %d, this is device %d", i, id, devID)
		}
		c.stripes[i] = r.U64(at + 8)
		if c.stripes[i]%uint64(sectorSize) != 0 {
			return bad("stripe %d is at %d, which is not a multiple of sectorsize", i, c.stripes[i])
		}
		if c.stripes[i] > deviceSize || c.length > deviceSize-c.stripes[i] {
			return bad("stripe %d at %d with length %d lies beyond the device's %d bytes", i, c.stripes[i], c.length, deviceSize)
		}
	}
	return c, nil
}

// chunkMap maps logical addresses to device addresses. It is not changed once it is made.
type chunkMap struct {
	chunks []chunk // by logical address, without overlap
	onDisk []chunkStripe
}

// chunkStripe is one copy of a chunk, for the way back from a device address.
type chunkStripe struct {
	addr  uint64
	chunk int
}

// newChunkMap makes a map of chunks in any order.
func newChunkMap(chunks []chunk) (*chunkMap, error) {
	if len(chunks) > maxChunks {
		return nil, fmt.Errorf("more than %d chunks", maxChunks)
	}
	slices.SortFunc(chunks, func(a, b chunk) int {
		if a.logical == b.logical {
			return 0
		}
		return order(a.logical < b.logical)
	})
	m := &chunkMap{chunks: chunks}
	for i := range chunks {
		if i > 0 && chunks[i-1].end() > chunks[i].logical {
			return nil, violated(chunkRule, "chunk %d with length %d overlaps chunk %d", chunks[i-1].logical, chunks[i-1].length, chunks[i].logical)
		}
		for j := range chunks[i].copies {
			m.onDisk = append(m.onDisk, chunkStripe{chunks[i].stripes[j], i})
		}
	}
	slices.SortFunc(m.onDisk, func(a, b chunkStripe) int {
		if a.addr == b.addr {
			return 0
		}
		return order(a.addr < b.addr)
	})
	for i := 1; i < len(m.onDisk); i++ {
		p, q := m.onDisk[i-1], m.onDisk[i]
		if p.addr+chunks[p.chunk].length > q.addr {
			return nil, violated(chunkRule, "chunk %d and chunk %d share the device address %d", chunks[p.chunk].logical, chunks[q.chunk].logical, q.addr)
		}
	}
	return m, nil
}

// find returns the chunk that holds [logical, logical+n), or nil.
func (m *chunkMap) find(logical, n uint64) *chunk {
	i, found := slices.BinarySearchFunc(m.chunks, logical, func(c chunk, l uint64) int {
		if c.logical == l {
			return 0
		}
		return order(c.logical < l)
	})
	if !found {
		i--
	}
	if i < 0 {
		return nil
	}
	c := &m.chunks[i]
	if off := logical - c.logical; off >= c.length || n > c.length-off {
		return nil
	}
	return c
}

// copies returns the device addresses of [logical, logical+n), all of them, which must lie in a chunk
// with one of the types wanted.
func (m *chunkMap) copies(logical, n, types uint64) (addrs [2]uint64, count int, err error) {
	c := m.find(logical, n)
	if c == nil {
		return addrs, 0, violated(pointerRule, "no chunk holds the logical addresses %d to %d", logical, logical+n)
	}
	if c.typ&types == 0 {
		return addrs, 0, violated(pointerRule, "the chunk at logical address %d has type %#x, want %#x", logical, c.typ, types)
	}
	for i := range c.copies {
		addrs[i] = c.stripes[i] + (logical - c.logical)
	}
	return addrs, c.copies, nil
}

// holdsMetadata tells whether a range of the device touches a chunk of metadata.
func (m *chunkMap) holdsMetadata(off, n uint64) bool {
	i, _ := slices.BinarySearchFunc(m.onDisk, off, func(s chunkStripe, a uint64) int {
		if s.addr == a {
			return 0
		}
		return order(s.addr < a)
	})
	for i = max(i-1, 0); i < len(m.onDisk) && m.onDisk[i].addr < off+n; i++ {
		c := &m.chunks[m.onDisk[i].chunk]
		if c.typ&(groupMetadata|groupSystem) != 0 && off < m.onDisk[i].addr+c.length {
			return true
		}
	}
	return false
}

// parseSysArray reads the chunks that the superblock carries to bootstrap the chunk tree
// (btrfs_read_sys_array).
func parseSysArray(s superblock, addr, deviceSize uint64) ([]chunk, error) {
	r := disk.NewRegion(s.sysArray()[:s.sysArraySize()], addr+811)
	var chunks []chunk
	for off := uint64(0); off < uint64(r.Len()); {
		head, err := r.Sub(off, keySize+chunkItemSize)
		if err != nil {
			return nil, violatedAt(chunkRule, addr, "sys_chunk_array: %v", err)
		}
		k := readKey(head, 0)
		n := uint64(head.U16(keySize + 44))
		if k.typ != chunkItemKey || n == 0 {
			return nil, violatedAt(chunkRule, addr, "sys_chunk_array has %s with %d stripes", keyText(k), n)
		}
		item, err := r.Sub(off+keySize, chunkItemSize+(n-1)*stripeSize)
		if err != nil {
			return nil, violatedAt(chunkRule, addr, "sys_chunk_array: %v", err)
		}
		c, err := parseChunk(k, item, s.sectorSize(), s.devID(), deviceSize)
		if err != nil {
			return nil, err
		}
		if c.typ&groupSystem == 0 {
			return nil, violatedAt(chunkRule, addr, "sys_chunk_array has a chunk of type %#x", c.typ)
		}
		chunks = append(chunks, c)
		off += keySize + uint64(item.Len())
	}
	return chunks, nil
}
