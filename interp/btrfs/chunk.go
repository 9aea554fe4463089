package btrfs

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"fsward/interp"
	"fsward/interp/btrfs/ondisk"
	"fsward/interp/disk"
)

const (
	maxChunks  = 1 << 17 // of 1 GiB each that is 128 TiB
	maxStripes = 1 << 10 // BTRFS_MAX_DEVS is smaller with every nodesize
	maxCopies  = 4       // RAID1C4
)

// A chunk is a range of logical addresses with the places of its copies on the devices.
type chunk struct {
	logical, length uint64
	typ             uint64
	stripes         []uint64 // device addresses
	copies          int      // number of copies of each byte: 1, or up to 4 under DUP and RAID1
	columns         int      // number of groups of copies that share the bytes: 1 unless striped
	parity          int      // number of stripes in each row that hold parity: 2 under RAID6
}

func (c *chunk) end() uint64 { return c.logical + c.length }

// striped reports whether consecutive parts of the chunk lie on different stripes.
func (c *chunk) striped() bool { return c.columns > 1 || c.parity > 0 }

// stripeLength returns the number of bytes in each stripe (calc_stripe_length).
func (c *chunk) stripeLength() uint64 { return c.length / uint64(c.columns) }

func (c *chunk) equal(o *chunk) bool {
	return c.logical == o.logical && c.length == o.length && c.typ == o.typ &&
		slices.Equal(c.stripes, o.stripes)
}

// locate returns the device addresses of the byte at an offset in the chunk. run is the number of
// bytes from there on that are contiguous on the devices (btrfs_map_block).
func (c *chunk) locate(off uint64) (addrs [maxCopies]uint64, run uint64) {
	first, at, run := 0, off, c.length-off
	if c.striped() {
		row, column := c.cell(off)
		first = c.stripe(row, column)
		at = row*ondisk.StripeLen + off%ondisk.StripeLen
		run = ondisk.StripeLen - off%ondisk.StripeLen
	}
	for i := range c.copies {
		addrs[i] = c.stripes[first+i] + at
	}
	return addrs, run
}

// cell returns the row and the column of an offset in a striped chunk.
func (c *chunk) cell(off uint64) (row uint64, column int) {
	n := off / ondisk.StripeLen
	return n / uint64(c.columns), int(n % uint64(c.columns))
}

// stripe returns the index of the first stripe of a column in a row. With parity, the columns of
// each row begin one stripe further, and those of parity follow them.
func (c *chunk) stripe(row uint64, column int) int {
	if c.parity > 0 {
		return int((row + uint64(column)) % uint64(len(c.stripes)))
	}
	return column * c.copies
}

// A profile is the layout of the bytes of a chunk over its stripes (btrfs_raid_array).
type profile struct {
	flag    uint64
	name    string
	copies  int
	parity  int
	striped bool // num_stripes, without parity, is a multiple of copies; otherwise it equals copies
}

var profiles = []profile{
	{0, "single", 1, 0, false},
	{ondisk.GroupRAID0, "RAID0", 1, 0, true},
	{ondisk.GroupRAID1, "RAID1", 2, 0, false},
	{ondisk.GroupDUP, "DUP", 2, 0, false},
	{ondisk.GroupRAID10, "RAID10", 2, 0, true},
	{ondisk.GroupRAID5, "RAID5", 1, 1, true},
	{ondisk.GroupRAID6, "RAID6", 1, 2, true},
	{ondisk.GroupRAID1C3, "RAID1C3", 3, 0, false},
	{ondisk.GroupRAID1C4, "RAID1C4", 4, 0, false},
}

// parseChunk reads a chunk item as btrfs_check_chunk_valid does. Its stripes must lie on the
// devices. The error is a *structureError, an *interp.UnsupportedError, or a *missingError.
func parseChunk(k ondisk.Key, r disk.Region, sectorSize uint32, devs *devices) (chunk, error) {
	v, ok := ondisk.ViewChunk(r)
	if !ok {
		return chunk{}, chunkError(r, k.Offset, "the item has %d bytes, at least %d are needed",
			r.Len(), ondisk.ChunkSize)
	}
	c := chunk{logical: k.Offset, length: v.Length(), typ: v.Type()}
	if err := c.checkItem(k, v, sectorSize); err != nil {
		return chunk{}, err
	}
	if err := c.setProfile(v); err != nil {
		return chunk{}, err
	}
	return c, c.readStripes(v, sectorSize, devs)
}

func chunkError(r disk.Region, logical uint64, format string, args ...any) error {
	args = append([]any{logical}, args...)
	return violatedAt(chunkRule, r.Addr(), "chunk %d: "+format, args...)
}

// checkItem checks the members of a chunk item that do not depend on the profile.
func (c *chunk) checkItem(k ondisk.Key, v ondisk.Chunk, sectorSize uint32) error {
	bad := func(format string, args ...any) error {
		return chunkError(v.Region, c.logical, format, args...)
	}
	n, sector := int(v.NumStripes()), uint64(sectorSize)
	whole := c.length != 0 && c.logical%sector == 0 && c.length%sector == 0
	switch {
	case k.ObjectID != ondisk.FirstChunkTreeID:
		return bad("its objectid is %d", k.ObjectID)
	case n == 0 || n > maxStripes || v.Len() != ondisk.ChunkSize+(n-1)*ondisk.StripeSize:
		return bad("num_stripes is %d in an item of %d bytes", n, v.Len())
	case !whole || c.logical+c.length < c.logical:
		return bad("its address or its length of %d bytes is no multiple of sectorsize", c.length)
	case v.StripeLen() != ondisk.StripeLen:
		return bad("stripe_len is %d, want %d", v.StripeLen(), ondisk.StripeLen)
	case v.SectorSize() != sectorSize:
		return bad("sector_size is %d, want %d", v.SectorSize(), sectorSize)
	case c.typ&ondisk.GroupTypes == 0 || c.typ&^(ondisk.GroupTypes|ondisk.GroupProfiles) != 0:
		return bad("type is %#x", c.typ)
	case c.typ&ondisk.GroupSystem != 0 && c.typ&ondisk.GroupTypes != ondisk.GroupSystem:
		return bad("type is %#x: SYSTEM stands alone", c.typ)
	}
	return nil
}

// setProfile sets the number of copies, columns and stripes of parity, and checks the stripes
// against the profile.
func (c *chunk) setProfile(v ondisk.Chunk) error {
	bad := func(format string, args ...any) error {
		return chunkError(v.Region, c.logical, format, args...)
	}
	n := int(v.NumStripes())
	i := slices.IndexFunc(profiles, func(p profile) bool {
		return p.flag == c.typ&ondisk.GroupProfiles
	})
	if i < 0 {
		return bad("type is %#x, with more than one profile", c.typ)
	}
	p := &profiles[i]
	c.copies, c.columns, c.parity = p.copies, 1, p.parity
	if p.striped {
		c.columns = (n - p.parity) / p.copies
	}
	switch {
	case n != c.columns*c.copies+c.parity || c.columns < 1:
		return bad("num_stripes is %d under %s", n, p.name)
	case p.flag == ondisk.GroupRAID10 && v.SubStripes() != 2:
		return bad("sub_stripes is %d under RAID10, want 2", v.SubStripes())
	case c.striped() &&
		(c.length%uint64(c.columns) != 0 || c.stripeLength()%ondisk.StripeLen != 0):
		return bad("length %d does not divide into %d stripes of whole %d bytes",
			c.length, c.columns, ondisk.StripeLen)
	}
	return nil
}

// readStripes reads the places of the stripes of a chunk. They must lie on the devices.
func (c *chunk) readStripes(v ondisk.Chunk, sectorSize uint32, devs *devices) error {
	bad := func(format string, args ...any) error {
		return chunkError(v.Region, c.logical, format, args...)
	}
	c.stripes = make([]uint64, v.NumStripes())
	for i := range c.stripes {
		stripe := ondisk.ChunkStripe(v, i)
		id, off, uuid := stripe.DevID(), stripe.Offset(), stripe.DevUUID()
		if off%uint64(sectorSize) != 0 {
			return bad("stripe %d is at %d, which is not a multiple of sectorsize", i, off)
		}
		dev := devs.holder(id, uuid)
		if dev == nil {
			return &missingError{id: id, uuid: uuid, chunk: c.logical}
		}
		if uuid != dev.uuid {
			return bad("stripe %d is on the device with uuid %s, device %d has %s",
				i, uuidText(uuid), id, uuidText(dev.uuid))
		}
		if off > dev.size || c.stripeLength() > dev.size-off {
			return bad("stripe %d at %d with length %d lies beyond the %d bytes of device %d",
				i, off, c.stripeLength(), dev.size, id)
		}
		c.stripes[i] = dev.start + off
	}
	return nil
}

// A chunkMap maps logical addresses to device addresses. It is immutable.
type chunkMap struct {
	chunks []chunk // by logical address, without overlap
	onDisk []chunkStripe
}

// A chunkStripe is one stripe of a chunk. It maps a device address to the chunk.
type chunkStripe struct {
	addr  uint64
	chunk int
}

// newChunkMap returns a map of chunks, which may be in any order. It sorts the slice in place.
func newChunkMap(chunks []chunk) (*chunkMap, error) {
	if len(chunks) > maxChunks {
		return nil, fmt.Errorf("more than %d chunks", maxChunks)
	}
	slices.SortFunc(chunks, func(a, b chunk) int {
		return cmp.Compare(a.logical, b.logical)
	})
	m := &chunkMap{chunks: chunks}
	for i := range chunks {
		if i > 0 && chunks[i-1].end() > chunks[i].logical {
			return nil, violated(chunkRule, "chunk %d with length %d overlaps chunk %d",
				chunks[i-1].logical, chunks[i-1].length, chunks[i].logical)
		}
		for _, addr := range chunks[i].stripes {
			m.onDisk = append(m.onDisk, chunkStripe{addr, i})
		}
	}
	slices.SortFunc(m.onDisk, func(a, b chunkStripe) int {
		return cmp.Compare(a.addr, b.addr)
	})
	for i := 1; i < len(m.onDisk); i++ {
		p, q := m.onDisk[i-1], m.onDisk[i]
		if p.addr+chunks[p.chunk].stripeLength() > q.addr {
			return nil, violated(chunkRule, "chunk %d and chunk %d share the device address %d",
				chunks[p.chunk].logical, chunks[q.chunk].logical, q.addr)
		}
	}
	return m, nil
}

// moved returns the map after the end of a device replacement. It moves every stripe from the
// device that begins at from to the device that begins at to.
func (m *chunkMap) moved(from, to uint64) (*chunkMap, error) {
	chunks := slices.Clone(m.chunks)
	for i := range chunks {
		chunks[i].stripes = slices.Clone(chunks[i].stripes)
		for j, addr := range chunks[i].stripes {
			if addr-addr%interp.DiskStride == from {
				chunks[i].stripes[j] = addr - from + to
			}
		}
	}
	return newChunkMap(chunks)
}

// find returns the chunk that holds [logical, logical+n), or nil.
func (m *chunkMap) find(logical, n uint64) *chunk {
	i := sort.Search(len(m.chunks), func(i int) bool { return m.chunks[i].logical > logical }) - 1
	if i < 0 {
		return nil
	}
	c := &m.chunks[i]
	if off := logical - c.logical; off >= c.length || n > c.length-off {
		return nil
	}
	return c
}

// copies returns the device addresses of all copies of [logical, logical+n) that are not on lost
// devices. The range must lie in one stripe of a chunk that has one of the types.
func (m *chunkMap) copies(
	logical, n, types uint64,
) (addrs [maxCopies]uint64, count int, err error) {
	c := m.find(logical, n)
	if c == nil {
		return addrs, 0, violated(pointerRule, "no chunk holds the logical addresses %d to %d",
			logical, logical+n)
	}
	if c.typ&types == 0 {
		return addrs, 0, violated(pointerRule,
			"the chunk at logical address %d has type %#x, want %#x", logical, c.typ, types)
	}
	addrs, run := c.locate(logical - c.logical)
	if run < n {
		return addrs, 0, violated(pointerRule,
			"the logical addresses %d to %d cross a stripe boundary", logical, logical+n)
	}
	addrs, count = present(addrs, c.copies)
	return addrs, count, nil
}

// holdsMetadata reports whether a range of device addresses touches a chunk of metadata.
func (m *chunkMap) holdsMetadata(off, n uint64) bool {
	i, _ := slices.BinarySearchFunc(m.onDisk, off, func(s chunkStripe, a uint64) int {
		return cmp.Compare(s.addr, a)
	})
	for i = max(i-1, 0); i < len(m.onDisk) && m.onDisk[i].addr < off+n; i++ {
		c := &m.chunks[m.onDisk[i].chunk]
		if c.typ&(ondisk.GroupMetadata|ondisk.GroupSystem) != 0 &&
			off < m.onDisk[i].addr+c.stripeLength() {
			return true
		}
	}
	return false
}

// parseSysArray reads the chunks in sys_chunk_array of the superblock, which hold the chunk tree
// (btrfs_read_sys_array).
func parseSysArray(s ondisk.Superblock, addr uint64, devs *devices) ([]chunk, error) {
	r := disk.NewRegion(s.SysArray()[:s.SysArraySize()], addr+ondisk.SuperSysChunkArrayAt)
	var chunks []chunk
	for off := uint64(0); off < uint64(r.Len()); {
		head, err := r.Sub(off, ondisk.DiskKeySize+ondisk.ChunkSize)
		if err != nil {
			return nil, violatedAt(chunkRule, addr, "sys_chunk_array: %v", err)
		}
		k := ondisk.ReadKey(head, 0)
		n := uint64(head.U16(ondisk.DiskKeySize + ondisk.ChunkNumStripesAt))
		if k.Type != ondisk.ChunkItemKey || n == 0 {
			return nil, violatedAt(chunkRule, addr, "sys_chunk_array has %s with %d stripes",
				k.String(), n)
		}
		item, err := r.Sub(off+ondisk.DiskKeySize, ondisk.ChunkSize+(n-1)*ondisk.StripeSize)
		if err != nil {
			return nil, violatedAt(chunkRule, addr, "sys_chunk_array: %v", err)
		}
		c, err := parseChunk(k, item, s.SectorSize(), devs)
		if err != nil {
			return nil, err
		}
		if c.typ&ondisk.GroupSystem == 0 {
			return nil, violatedAt(chunkRule, addr, "sys_chunk_array has a chunk of type %#x",
				c.typ)
		}
		chunks = append(chunks, c)
		off += ondisk.DiskKeySize + uint64(item.Len())
	}
	return chunks, nil
}
