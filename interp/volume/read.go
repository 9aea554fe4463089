package volume

import (
	"cmp"
	"fmt"
	"slices"

	"fsward/interp"
)

// diskState has the tables of one disk.
type diskState struct {
	whole device
	table *table // nil if the disk has no partition table
	pvs   []*pv  // on the whole disk, or on partitions
	// byPath and byOff have the same PVs: of those that begin at the same byte, byOff has the first.
	byPath map[string]*pv
	byOff  map[uint64]*pv
	// copies are the copies of the GPT as they are, also while table is that of an earlier moment.
	copies *gptCopies
	// watched are the regions of a table that is not whole, and that table does not show.
	watched []Extent
	// changed says which copies of the GPT have changed since they last agreed, or since the last
	// flush.
	changed [2]bool
}

// Read returns the volumes on the disks of d. An error is that of a read from the disk: a damaged
// table gives volumes as far as it is sound, and a Fault.
func Read(d interp.Disk) (*Map, error) {
	var states []*diskState
	for i, size := range interp.Sizes(d) {
		s, err := readDisk(d, i, size, nil)
		if err != nil {
			return nil, err
		}
		states = append(states, s)
	}
	return assemble(states), nil
}

// readDisk reads the tables of one disk. A partition table wins over the label of a PV, as for LVM.
// old is the state of the disk before the write under observation, or nil: see retain.
func readDisk(d interp.Disk, i int, size uint64, old *diskState) (*diskState, error) {
	s := &diskState{whole: newDevice(d, i, size), byPath: map[string]*pv{}, byOff: map[uint64]*pv{}}
	var err error
	if s.table, err = readGPT(&s.whole); err != nil {
		return nil, err
	}
	if s.table == nil {
		if s.table, err = readMBR(&s.whole); err != nil {
			return nil, err
		}
	}
	s.retainTable(old)
	for _, dev := range s.devices() {
		p, err := findPV(&dev)
		if err != nil {
			return nil, err
		}
		if p = p.retain(old.pvAt(&dev)); p != nil {
			s.addPV(p)
		}
	}
	return s, nil
}

// addPV adds a PV. A GPT can have tens of thousands of partitions that are PVs.
func (s *diskState) addPV(p *pv) {
	s.pvs = append(s.pvs, p)
	s.byPath[p.path] = p
	if s.byOff[p.off] == nil {
		s.byOff[p.off] = p
	}
}

// devices returns the devices that can hold a PV: the partitions of the disk, or the whole disk.
func (s *diskState) devices() []device {
	if s.table == nil {
		return []device{s.whole}
	}
	var all []device
	for _, p := range s.table.parts {
		if !p.container && p.unguarded == "" {
			all = append(all, s.device(p))
		}
	}
	return all
}

func (s *diskState) device(p part) device {
	d := s.whole
	d.path, d.off, d.size = pathOf(p), p.start, p.size
	return d
}

func pathOf(p part) string { return fmt.Sprintf("p%d", p.number) }

// findPV reads the PV on a device, nil if there is none. The label on a member of an md array
// belongs to the array.
func findPV(d *device) (*pv, error) {
	p, err := readPV(d)
	if p == nil || err != nil {
		return nil, err
	}
	if member, err := mdMember(d); member != "" || err != nil {
		return nil, err
	}
	return p, nil
}

// assemble makes a Map of the tables on all disks.
func assemble(states []*diskState) *Map {
	m := &Map{}
	var all []*pv
	for _, s := range states {
		m.addDisk(s)
		all = append(all, s.pvs...)
	}
	m.groups = m.gather(all)
	for _, g := range m.groups {
		g.volumes(m)
	}
	names := map[*pv]string{} // of the VGs of PVs
	for _, g := range m.groups {
		for _, p := range g.devs {
			names[p] = g.name
		}
	}
	for _, p := range all {
		m.addPV(p, names[p])
	}
	m.finish()
	return m
}

// addDisk adds the volumes of a disk but those of LVM.
func (m *Map) addDisk(s *diskState) {
	for _, r := range s.watched {
		m.fix(r)
	}
	if s.table != nil {
		m.addTable(s)
		return
	}
	m.concern(s.whole.extent(0, appearBytes))
	if s.byPath[""] == nil {
		m.addVolume(Volume{Kind: Whole, Disk: s.whole.disk, Size: s.whole.size,
			Segments: linear(s.whole.extent(0, s.whole.size))})
	}
}

// addPV adds the table of a PV. group is the name of its VG, "" if there is none.
func (m *Map) addPV(p *pv, group string) {
	m.Faults = append(m.Faults, p.faults...)
	t := Table{Kind: PV, Disk: p.disk, Path: p.path, Name: group, Regions: p.regions()}
	m.Tables = append(m.Tables, t)
	for _, r := range t.Regions {
		m.fix(r)
	}
}

// appearBytes is the size of the range at the start of a disk or of a partition in which a table or
// the label of a PV can appear.
const appearBytes = 2048

// linear returns the segments of a volume of one extent.
func linear(e Extent) []Segment {
	if e.Len == 0 {
		return nil
	}
	return []Segment{{Len: e.Len, Stripes: []uint64{e.Addr}}}
}

func (m *Map) addVolume(v Volume) { m.Volumes = append(m.Volumes, v) }

func (m *Map) concern(e Extent) {
	if e.Len > 0 {
		m.concerns = append(m.concerns, e)
	}
}

// fix notes a region of a table.
func (m *Map) fix(e Extent) {
	if e.Len > 0 {
		m.fixed = append(m.fixed, e)
	}
}

// addTable adds a partition table and its partitions.
func (m *Map) addTable(s *diskState) {
	d, t := &s.whole, s.table
	m.Faults = append(m.Faults, t.faults...)
	m.Tables = append(m.Tables, Table{Kind: t.kind, Disk: d.disk, Name: t.name, Regions: t.regions})
	for _, r := range t.regions {
		m.fix(r)
	}
	for _, p := range t.parts {
		if p.container {
			continue
		}
		e := d.extent(p.start, p.size)
		m.concern(Extent{e.Addr, min(e.Len, appearBytes)})
		if s.byPath[pathOf(p)] != nil {
			continue
		}
		m.addVolume(Volume{Path: pathOf(p), Disk: d.disk, Size: e.Len, Kind: Partition,
			Segments: linear(e), Unguarded: p.unguarded, Type: p.typ, Label: p.label})
	}
}

// finish sorts the runs and extents for look-ups. Where volumes overlap, the first of them has the
// bytes, and none of them is guarded, since it is unknown which one the guest uses.
func (m *Map) finish() {
	for i := range m.Tables {
		for _, r := range m.Tables[i].Regions {
			m.tables = append(m.tables, owned{r, int32(i)})
		}
	}
	m.tables = apart(m.tables)
	m.concerns = merged(append(m.concerns, m.fixed...))
	m.fixed = merged(m.fixed)
	for v := range m.Volumes {
		for s := range m.Volumes[v].Segments {
			seg := &m.Volumes[v].Segments[s]
			for i, addr := range seg.Stripes {
				m.runs = append(m.runs, run{addr, seg.stripeLen(), int32(v), int32(s), int32(i)})
			}
		}
	}
	m.separate()
}

// separate cuts runs that overlap.
func (m *Map) separate() {
	slices.SortStableFunc(m.runs, func(a, b run) int { return cmp.Compare(a.addr, b.addr) })
	kept := m.runs[:0]
	for _, r := range m.runs {
		if n := len(kept); n > 0 && r.addr < kept[n-1].addr+kept[n-1].n {
			m.overlap(kept[n-1], r)
			continue
		}
		kept = append(kept, r)
	}
	m.runs = slices.Clip(kept)
}

func (m *Map) overlap(a, b run) {
	v, w := &m.Volumes[a.volume], &m.Volumes[b.volume]
	disk, _ := interp.Locate(b.addr)
	m.Faults = append(m.Faults, Fault{disk, b.addr, fmt.Sprintf("%s overlaps %s", w.Path, v.Path)})
	for _, x := range []*Volume{v, w} {
		if x.Unguarded == "" {
			x.Unguarded = "volume that overlaps another"
		}
	}
}

// apart sorts regions by address, and drops the parts that an earlier one covers.
func apart(regions []owned) []owned {
	slices.SortStableFunc(regions, func(a, b owned) int { return cmp.Compare(a.Addr, b.Addr) })
	var kept []owned
	end := uint64(0)
	for _, r := range regions {
		last := r.Addr + r.Len
		r.Addr = max(r.Addr, end)
		if r.Addr < last {
			r.Len = last - r.Addr
			kept, end = append(kept, r), last
		}
	}
	return kept
}

// merged sorts extents by address, and joins those that touch.
func merged(extents []Extent) []Extent {
	slices.SortFunc(extents, func(a, b Extent) int { return cmp.Compare(a.Addr, b.Addr) })
	var kept []Extent
	for _, e := range extents {
		if n := len(kept); n > 0 && e.Addr <= kept[n-1].Addr+kept[n-1].Len {
			kept[n-1].Len = max(kept[n-1].Len, e.Addr+e.Len-kept[n-1].Addr)
			continue
		}
		kept = append(kept, e)
	}
	return kept
}
