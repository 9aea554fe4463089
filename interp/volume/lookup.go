package volume

import "sort"

// A run is a range of addresses that belongs to one stripe of a segment of a volume.
type run struct {
	addr, n                 uint64
	volume, segment, stripe int32
}

// owned is a region of a table.
type owned struct {
	Extent
	table int32
}

// What is the kind of owner of a byte.
type What uint8

// The kinds of owners.
const (
	InGap    What = iota // no volume has the byte, or no disk
	InTable              // a table: see Map.Tables
	InBoot               // boot code in front of a partition table
	InVolume             // a volume: see Map.Volumes
)

func (w What) String() string {
	return [...]string{"gap", "table", "boot code", "volume"}[w]
}

// A Place is the owner of a byte, with the number of bytes from there on that have the same owner.
type Place struct {
	What  What
	Index int    // of the table or of the volume
	Len   uint64 // bytes, at least 1
}

// bootBytes is the size of the boot code in sector 0. A disk identifier and the table follow it.
const bootBytes = 440

// Volume returns the volume that has an address, the offset in the volume, and how many bytes from
// there on follow one another in both. ok is false if no volume has the address.
func (m *Map) Volume(addr uint64) (v int, off, n uint64, ok bool) {
	i := m.runAfter(addr) - 1
	if i < 0 || addr-m.runs[i].addr >= m.runs[i].n {
		return 0, 0, 0, false
	}
	r := &m.runs[i]
	s := &m.Volumes[r.volume].Segments[r.segment]
	in := addr - r.addr
	if s.Chunk == 0 {
		return int(r.volume), s.Start + in, r.n - in, true
	}
	row, rest := in/s.Chunk, in%s.Chunk
	off = s.Start + (row*uint64(len(s.Stripes))+uint64(r.stripe))*s.Chunk + rest
	return int(r.volume), off, min(s.Chunk-rest, r.n-in), true
}

// runAfter returns the index of the first run that begins behind an address.
func (m *Map) runAfter(addr uint64) int {
	return sort.Search(len(m.runs), func(i int) bool { return m.runs[i].addr > addr })
}

// Address returns the address of a byte of a volume, and how many bytes from there on follow one
// another in both. n is 0 if the volume has no such byte.
func (m *Map) Address(v int, off uint64) (addr, n uint64) {
	segments := m.Volumes[v].Segments
	i := sort.Search(len(segments), func(i int) bool { return segments[i].Start > off }) - 1
	if i < 0 || off-segments[i].Start >= segments[i].Len {
		return 0, 0
	}
	s := &segments[i]
	in := off - s.Start
	if s.Chunk == 0 {
		return s.Stripes[0] + in, s.Len - in
	}
	chunk, rest := in/s.Chunk, in%s.Chunk
	stripes := uint64(len(s.Stripes))
	return s.Stripes[chunk%stripes] + chunk/stripes*s.Chunk + rest, min(s.Chunk-rest, s.Len-in)
}

// Concerns reports whether a write to a range can change the map: it touches a table, or a place
// where a table can appear.
func (m *Map) Concerns(addr, n uint64) bool { return touches(m.concerns, addr, n) }

// touches reports whether a range meets one of several extents, which are ascending and apart.
func touches(extents []Extent, addr, n uint64) bool {
	i := sort.Search(len(extents), func(i int) bool { return extents[i].Addr+extents[i].Len > addr })
	return i < len(extents) && n > 0 && extents[i].Addr-min(addr, extents[i].Addr) < n
}

// Place returns the owner of a byte. A table that lies in a volume, as that of overlapping
// partitions does, owns its bytes.
func (m *Map) Place(addr uint64) Place {
	i := sort.Search(len(m.tables), func(i int) bool { return m.tables[i].Addr > addr })
	next := ^uint64(0)
	if i < len(m.tables) {
		next = m.tables[i].Addr - addr
	}
	if i > 0 && addr-m.tables[i-1].Addr < m.tables[i-1].Len {
		t := m.tables[i-1]
		if in := addr % stride; in < bootBytes && m.Tables[t.table].Kind != PV {
			return Place{InBoot, int(t.table), bootBytes - in}
		}
		return Place{InTable, int(t.table), t.Len - (addr - t.Addr)}
	}
	if v, _, n, ok := m.Volume(addr); ok {
		return Place{InVolume, v, min(n, next)}
	}
	if i := m.runAfter(addr); i < len(m.runs) {
		next = min(next, m.runs[i].addr-addr)
	}
	return Place{InGap, 0, min(next, stride-addr%stride)}
}
