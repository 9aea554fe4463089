package volume

import (
	"cmp"
	"slices"

	"fsward/change"
)

// A row is an object with the values of its kind's fields, in the order of the schema.
type row struct {
	change.Object
	values []change.Value
}

func compareRows(a, b row) int {
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), a.Object.Compare(b.Object))
}

// rows describes a state as objects, in the order of kinds and identifiers.
type rows struct {
	all   []row
	names *change.Names
}

func (r *rows) add(o change.Object, values ...change.Value) {
	r.all = append(r.all, row{o, values})
}

func (r *rows) named(k change.Kind, id uint64, name string) change.Object {
	return change.Object{Kind: k, ID: id, Sub: r.names.Handle([]byte(name))}
}

func (r *rows) text(s string) change.Value { return r.names.Intern([]byte(s)) }

func flag(b bool) change.Value {
	if b {
		return change.Num(1)
	}
	return change.Num(0)
}

// sort sorts the rows. Of two with one identifier the first stays: areas of LVs that overlap.
func (r *rows) sort() {
	slices.SortStableFunc(r.all, compareRows)
	r.all = slices.CompactFunc(r.all, func(a, b row) bool { return a.Object == b.Object })
}

// describe makes the rows of a state but those of its volumes.
func (r *rows) describe(states []*diskState, m *Map) {
	for _, s := range states {
		disk := uint64(s.whole.disk)
		r.add(change.Object{Kind: kindDisk, ID: disk}, change.Num(s.whole.size))
		if s.table != nil {
			r.addTable(s)
		}
	}
	for _, g := range m.groups {
		r.add(r.named(kindVG, 0, g.name), change.Num(g.text.seqno), change.Num(g.text.extentSize))
		for _, p := range g.text.pvs {
			if pv := g.pvs[p.name].pv; pv != nil {
				start, end := g.dataOf(g.pvs[p.name])
				r.add(r.named(kindPV, uint64(pv.disk), p.id), r.text(g.name), change.Num(pv.off),
					change.Num(pv.off+pv.device.size), change.Num(start), change.Num(end))
			}
		}
	}
	r.addAreas(m.groups)
}

// dataOf returns the range of a PV's extents, in bytes of the disk.
func (g *group) dataOf(p *pvOf) (start, end uint64) {
	start = p.pv.off + min(p.start, stride)
	return start, start + min(p.count, stride/g.text.extentSize)*g.text.extentSize
}

// addTable adds the rows of a partition table.
func (r *rows) addTable(s *diskState) {
	disk, t := uint64(s.whole.disk), s.table
	kind, copies := change.WordValue(wordMBR), change.Value{}
	if g := s.copies; t.kind == GPT && g != nil {
		kind = change.WordValue(wordGPT)
		switch {
		case g.agree():
			copies = change.WordValue(wordAgree)
		case g.primary.fault != "" || g.backup.fault != "":
			copies = change.WordValue(wordDamaged)
		default:
			copies = change.WordValue(wordDiffer)
		}
	}
	r.add(change.Object{Kind: kindTable, ID: disk}, kind, copies, flag(s.landed()))
	next := nextStarts(t.parts)
	for i, p := range t.parts {
		first, end := t.usable(p, s.whole.size)
		r.add(change.Object{Kind: kindPartition, ID: disk, Sub: uint64(p.number)}, change.Num(p.start),
			change.Num(p.start+p.size), change.Num(first), change.Num(end), next[i], r.text(p.typ))
	}
}

// usable returns the bounds of a partition.
func (t *table) usable(p part, size uint64) (first, end uint64) {
	if p.inside > 0 {
		for _, q := range t.parts {
			if q.number == p.inside {
				return q.start, q.start + q.size
			}
		}
	}
	if t.endUsable > 0 {
		return t.firstUsable, min(t.endUsable, size)
	}
	return sector, size
}

// nextStarts returns for each partition the start of the next one behind, among the logical
// partitions for one of these. If any two overlap, one overlaps the next.
func nextStarts(parts []part) []change.Value {
	order := make([]int, len(parts))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		p, q := parts[a], parts[b]
		return cmp.Or(cmp.Compare(p.inside, q.inside), cmp.Compare(p.start, q.start),
			cmp.Compare(p.number, q.number))
	})
	next := make([]change.Value, len(parts))
	for i := 1; i < len(order); i++ {
		if p, q := parts[order[i-1]], parts[order[i]]; p.inside == q.inside {
			next[order[i-1]] = change.Num(q.start)
		}
	}
	return next
}

// area is a run of extents of an LV on a disk.
type area struct {
	disk               int
	start, end         uint64 // bytes on the disk
	name               string
	dataStart, dataEnd uint64 // of the extents of the PV
}

// addAreas adds the areas of all LVs, as the metadata has them.
func (r *rows) addAreas(groups []*group) {
	var all []area
	for _, g := range groups {
		all = g.appendAreas(all)
	}
	slices.SortStableFunc(all, func(a, b area) int {
		return cmp.Or(cmp.Compare(a.disk, b.disk), cmp.Compare(a.start, b.start))
	})
	for i, a := range all {
		next := change.Value{}
		if i+1 < len(all) && all[i+1].disk == a.disk {
			next = change.Num(all[i+1].start)
		}
		r.add(change.Object{Kind: kindArea, ID: uint64(a.disk), Sub: a.start}, change.Num(a.end), next,
			change.Num(a.dataStart), change.Num(a.dataEnd), r.text(a.name))
	}
}

func (g *group) appendAreas(all []area) []area {
	for i := range g.text.lvs {
		l := &g.text.lvs[i]
		for j := range l.segments {
			s := &l.segments[j]
			each := s.each()
			for _, at := range s.areas {
				p := g.pvs[at.name]
				if p == nil || p.pv == nil || each == 0 {
					continue
				}
				from, to := g.dataOf(p)
				start := from + min(at.start, stride/g.text.extentSize)*g.text.extentSize
				end := start + min(each, stride/g.text.extentSize)*g.text.extentSize
				all = append(all, area{disk: p.pv.disk, start: start, end: end, name: g.name + "/" + l.name,
					dataStart: from, dataEnd: to})
			}
		}
	}
	return all
}

// each returns the number of extents of an area of the segment.
func (seg *segmentText) each() uint64 {
	if seg.typ == "striped" && len(seg.areas) > 1 {
		return seg.count / uint64(len(seg.areas))
	}
	return seg.count
}

// idOf returns the number in the identifier of a volume.
func (v *Volume) idOf() uint64 {
	if v.Kind == LV {
		return 0
	}
	return uint64(v.Disk)
}

// addVolumes adds the volumes of a map. labels are their identifiers; kept is the number of bytes
// that stay in their place.
func (r *rows) addVolumes(m *Map, uses []Use, labels []string, kept []uint64) {
	for i := range m.Volumes {
		v, u := &m.Volumes[i], uses[i]
		values := []change.Value{r.text(v.Path), change.WordValue(wordDisk + change.WordID(v.Kind)),
			change.Num(v.Size), flag(v.Unguarded == ""), {}, {}, {}, change.Num(kept[i])}
		if u.FS != "" {
			values[4], values[5], values[6] = r.text(u.FS), change.Num(u.Size), flag(u.InUse)
		}
		r.add(r.named(kindVolume, v.idOf(), labels[i]), values...)
	}
}
