package volume

import (
	"cmp"
	"fmt"
	"slices"
)

// group is a VG: the newest metadata, and the PVs that it names and that are there.
type group struct {
	text *vgText
	name string // unique among the groups
	at   uint64 // address of an area with the text
	pvs  map[string]*pvOf
	devs []*pv // those of pvs that are there, in the order of the metadata
}

// pvOf is a PV of a group.
type pvOf struct {
	pvText
	pv *pv // nil if it is missing
}

// gather joins PVs to groups. The newest text of a VG on any of its PVs counts, by LVM's seqno. A
// PV whose own text is of one VG does not belong to another one that names it: vgsplit and vgmerge
// write PV after PV.
func (m *Map) gather(all []*pv) []*group {
	byID := map[string]*pv{}
	for _, p := range all {
		switch first := byID[p.id]; {
		case p.damaged != "":
		case first != nil:
			m.Faults = append(m.Faults, Fault{p.disk, p.at(p.label), "two PVs have the same id"})
		default:
			byID[p.id] = p
		}
	}
	groups := m.newest(all, byID)
	names := map[string]bool{}
	for _, g := range groups {
		g.name = g.text.name
		if names[g.name] {
			m.Faults = append(m.Faults, Fault{int(g.at / stride), g.at,
				"two VGs have the name " + g.name})
			g.name = g.text.id
		}
		names[g.name] = true
		g.attach(byID)
	}
	return groups
}

// newest returns a group for each VG, in the order of their first PVs.
func (m *Map) newest(all []*pv, byID map[string]*pv) []*group {
	var groups []*group
	crcs := map[*vgText]uint32{}
	for _, p := range all {
		if p.damaged != "" || byID[p.id] != p {
			continue
		}
		for i := range p.areas {
			a := &p.areas[i]
			if a.text == nil {
				continue
			}
			crcs[a.text] = a.crc
			k := slices.IndexFunc(groups, func(g *group) bool { return g.text.id == a.text.id })
			switch {
			case k < 0:
				groups = append(groups, &group{text: a.text, at: p.at(a.off)})
			case groups[k].text.seqno < a.text.seqno:
				groups[k].text, groups[k].at = a.text, p.at(a.off)
			case groups[k].text.seqno == a.text.seqno && crcs[groups[k].text] != a.crc:
				m.Faults = append(m.Faults, Fault{p.disk, p.at(a.off), fmt.Sprintf(
					"VG %s has two different texts with the seqno %d", a.text.name, a.text.seqno)})
			}
		}
	}
	return groups
}

// attach finds the PVs that the metadata names.
func (g *group) attach(byID map[string]*pv) {
	g.pvs = make(map[string]*pvOf, len(g.text.pvs))
	for _, t := range g.text.pvs {
		p := byID[t.id]
		if t.missing || p != nil && p.names(g.text.id) {
			p = nil
		}
		g.pvs[t.name] = &pvOf{t, p}
		if p != nil {
			g.devs = append(g.devs, p)
		}
	}
}

// volumes adds the logical volumes of a group to a map.
func (g *group) volumes(m *Map) {
	roles := g.roles()
	for i := range g.text.lvs {
		l := &g.text.lvs[i]
		v := Volume{Path: g.name + "/" + l.name, Kind: LV, id: l.id}
		why := g.place(l, &v, m)
		switch role := roles[l.name]; {
		case role != "":
			why = role
		case why == "" && !l.visible:
			why = "hidden LV"
		}
		v.Unguarded = why
		if l.visible || len(v.Segments) > 0 {
			if len(v.Segments) > 0 {
				v.Disk = int(v.Segments[0].Stripes[0] / stride)
			}
			m.addVolume(v)
		}
	}
}

// place finds the segments of an LV, and returns why it cannot be read, "" if it can.
func (g *group) place(l *lvText, v *Volume, m *Map) (why string) {
	slices.SortStableFunc(l.segments, func(a, b segmentText) int {
		return cmp.Compare(a.start, b.start)
	})
	next := uint64(0)
	for i := range l.segments {
		s := &l.segments[i]
		if v.Type == "" {
			v.Type = s.kind()
		}
		if s.start != next {
			m.Faults = append(m.Faults, Fault{int(g.at / stride), g.at,
				fmt.Sprintf("the segments of %s do not follow one another", v.Path)})
			why = cmp.Or(why, "LV with a gap between its segments")
		}
		next = s.start + s.count
		if s.typ != "striped" {
			why = cmp.Or(why, kindOfLV(s.typ))
		}
		missing, fault := g.placeSegment(s, v)
		if fault != "" {
			m.Faults = append(m.Faults, Fault{int(g.at / stride), g.at,
				fmt.Sprintf("%s: %s", v.Path, fault)})
		}
		why = cmp.Or(why, missing)
	}
	v.Size = next * g.text.extentSize
	if len(l.segments) == 0 {
		why = "LV without segments"
	}
	return why
}

// placeSegment adds a segment to a volume, and returns why it cannot. The legs of a mirror follow
// one another: such a volume is not read.
func (g *group) placeSegment(s *segmentText, v *Volume) (why, fault string) {
	if len(s.areas) == 0 {
		return cmp.Or(kindOfLV(s.typ), "LV without places"), ""
	}
	stripes, each := uint64(len(s.areas)), s.each()
	if s.typ == "striped" && (s.count%stripes != 0 || stripes > 1 && (s.stripe == 0 ||
		each*g.text.extentSize%s.stripe != 0)) {
		return "LV with uneven stripes", "the size of a segment is no multiple of its stripes"
	}
	var at []uint64
	for _, a := range s.areas {
		p := g.pvs[a.name]
		switch {
		case p == nil:
			return "LV on another LV", ""
		case p.pv == nil:
			return "LV with a missing PV", ""
		}
		addr, ok := g.address(p, a.start, each)
		if !ok {
			return "LV beyond the end of its PV", "it goes beyond the end of " + a.name
		}
		at = append(at, addr)
	}
	if each == 0 {
		return "", ""
	}
	v.addSegments(s, at, each*g.text.extentSize, g.text.extentSize)
	return "", ""
}

func (v *Volume) addSegments(s *segmentText, at []uint64, each, extent uint64) {
	start := s.start * extent
	if s.typ == "striped" {
		seg := Segment{Start: start, Len: s.count * extent, Stripes: at}
		if len(at) > 1 {
			seg.Chunk = s.stripe
		}
		v.Segments = append(v.Segments, seg)
		return
	}
	for i := range at {
		v.Segments = append(v.Segments, Segment{Start: start + uint64(i)*each, Len: each,
			Stripes: at[i : i+1]})
	}
}

// address returns the address of an extent of a PV. ok is false if the extents from there on do not
// lie on it.
func (g *group) address(p *pvOf, extent, count uint64) (addr uint64, ok bool) {
	if extent > p.count || count > p.count-extent || p.start > p.pv.device.size ||
		extent+count > (p.pv.device.size-p.start)/g.text.extentSize {
		return 0, false
	}
	return p.pv.at(p.start + extent*g.text.extentSize), true
}

// kind returns the kind of a segment for messages.
func (seg *segmentText) kind() string {
	if seg.typ == "striped" && len(seg.areas) == 1 {
		return "linear"
	}
	return seg.typ
}

// kindOfLV names the kind of an LV by the type of a segment.
func kindOfLV(typ string) string {
	switch typ {
	case "striped":
		return ""
	case "thin-pool":
		return "thin pool"
	case "cache-pool":
		return "cache pool"
	case "vdo":
		return "VDO LV"
	case "vdo-pool":
		return "VDO pool"
	case "error", "zero":
		return "LV with a segment of the type " + typ
	case "":
		return "LV of no type"
	}
	return typ + " LV"
}

// roles returns, by name, the reasons for which LVs that others use cannot be read.
func (g *group) roles() map[string]string {
	roles := map[string]string{}
	for i := range g.text.lvs {
		for _, s := range g.text.lvs[i].segments {
			origin := s.origin()
			for _, u := range s.uses {
				if role := s.role(u.key); role != "" {
					roles[u.lv] = role
				}
				if u.key == "merging_store" {
					roles[origin] = "LV that a snapshot is merged into"
				}
			}
		}
	}
	return roles
}

func (seg *segmentText) origin() string {
	for _, u := range seg.uses {
		if u.key == "origin" {
			return u.lv
		}
	}
	return ""
}

// role returns the role of the LV that a segment names with a key, "" if the LV remains readable,
// as the origin of a snapshot does.
func (seg *segmentText) role(key string) string {
	switch {
	case seg.typ == "striped":
		return ""
	case seg.typ == "snapshot":
		if key == "cow_store" || key == "merging_store" {
			return "snapshot LV"
		}
		return ""
	case seg.typ == "thin":
		return ""
	case seg.typ == "mirror" && key == "mirrors":
		return "part of a mirror LV"
	case key == "origin" || key == "raids" || key == "data" || key == "metadata" || key == "pool" ||
		key == "cache_pool" || key == "writecache" || key == "cachevol" || key == "meta_dev" ||
		key == "mirror_log" || key == "images":
		return "part of a " + kindOfLV(seg.typ)
	}
	return ""
}
