package volume

import (
	"errors"
	"fmt"
	"math/bits"
	"strings"
)

// vgText is the metadata of a VG. Nothing in it is checked against the disks.
type vgText struct {
	id, name   string
	seqno      uint64
	extentSize uint64 // bytes
	pvs        []pvText
	lvs        []lvText
}

// pvText is a PV in the metadata of a VG.
type pvText struct {
	name    string // "pv0"
	id      string
	missing bool
	start   uint64 // of its first extent, bytes
	count   uint64 // extents
}

// lvText is a logical volume in the metadata of a VG.
type lvText struct {
	name, id string
	visible  bool
	segments []segmentText
}

// segmentText is a segment of a logical volume.
type segmentText struct {
	start, count uint64 // extents of the LV
	typ          string // "striped"; other flags are cut off
	stripe       uint64 // bytes of a chunk
	areas        []areaText
	uses         []use // LVs that the segment names
}

// areaText is a place in a PV or in another LV.
type areaText struct {
	name  string
	start uint64 // extents
}

// use is a reference from a segment to an LV.
type use struct{ key, lv string }

const (
	maxExtentSize = 1 << 40 // bytes
	maxExtents    = 1 << 48
)

// readGroup reads the text of a VG.
func readGroup(text []byte) (*vgText, error) {
	root, err := parseText(text)
	if err != nil {
		return nil, err
	}
	if root.str("contents") != "Text Format Volume Group" {
		return nil, errors.New("it is not the metadata of a VG")
	}
	if len(root.sections) != 1 {
		return nil, fmt.Errorf("it has %d VGs", len(root.sections))
	}
	s := &root.sections[0]
	g := &vgText{name: s.name, id: plainID(s.str("id"))}
	var ok, sized bool
	g.seqno, ok = s.num("seqno")
	g.extentSize, sized = s.num("extent_size")
	if !ok || !sized || g.id == "" || g.extentSize == 0 || g.extentSize > maxExtentSize/sector {
		return nil, errors.New("it has no id, no seqno or no size of extents")
	}
	g.extentSize *= sector
	if err := g.readPVs(s.child("physical_volumes")); err != nil {
		return nil, err
	}
	return g, g.readLVs(s.child("logical_volumes"))
}

// plainID returns an id without its hyphens, as labels have it.
func plainID(id string) string { return strings.ReplaceAll(id, "-", "") }

func (g *vgText) readPVs(s *section) error {
	if s == nil {
		return nil
	}
	for i := range s.sections {
		p := &s.sections[i]
		start, ok := p.num("pe_start")
		count, counted := p.num("pe_count")
		if !ok || !counted || start > maxExtents || count > maxExtents {
			return fmt.Errorf("%s has no place or number of extents", p.name)
		}
		g.pvs = append(g.pvs, pvText{p.name, plainID(p.str("id")), p.has("flags", "MISSING"),
			start * sector, count})
	}
	return nil
}

func (g *vgText) readLVs(s *section) error {
	if s == nil {
		return nil
	}
	for i := range s.sections {
		l := &s.sections[i]
		lv := lvText{name: l.name, id: plainID(l.str("id")), visible: l.has("status", "VISIBLE")}
		for j := range l.sections {
			if !strings.HasPrefix(l.sections[j].name, "segment") {
				continue
			}
			segment, err := g.readSegment(&l.sections[j])
			if err != nil {
				return fmt.Errorf("%s of %s: %w", l.sections[j].name, l.name, err)
			}
			lv.segments = append(lv.segments, segment)
		}
		g.lvs = append(g.lvs, lv)
	}
	return nil
}

func (g *vgText) readSegment(s *section) (segmentText, error) {
	seg := segmentText{}
	var ok, counted bool
	seg.start, ok = s.num("start_extent")
	seg.count, counted = s.num("extent_count")
	high, end := bits.Mul64(seg.start+seg.count, g.extentSize)
	if !ok || !counted || seg.start > maxExtents || seg.count > maxExtents || high != 0 ||
		end > maxSize {
		return seg, errors.New("it has no range of extents")
	}
	seg.typ, _, _ = strings.Cut(s.str("type"), "+")
	if seg.typ == "linear" {
		seg.typ = "striped" // another name of it
	}
	if size, ok := s.num("stripe_size"); ok && size <= maxExtentSize/sector {
		seg.stripe = size * sector
	}
	for _, a := range s.values {
		switch {
		case a.kind == isString && a.key != "type":
			seg.uses = append(seg.uses, use{a.key, a.text})
		case a.kind == isList:
			if err := seg.readAreas(a); err != nil {
				return seg, err
			}
		}
	}
	return seg, nil
}

// maxSize is the largest size of a logical volume, bytes.
const maxSize = 1 << 62

// readAreas reads a list of areas: a name, and perhaps a number of extents, for each.
func (seg *segmentText) readAreas(a assignment) error {
	for i := 0; i < len(a.list); i++ {
		name := a.list[i]
		if name.kind != isString {
			return fmt.Errorf("the list %s has a number without a name", a.key)
		}
		seg.uses = append(seg.uses, use{a.key, name.text})
		if a.key != "stripes" && a.key != "mirrors" {
			continue
		}
		if i++; i == len(a.list) {
			return fmt.Errorf("the list %s has a name without a number", a.key)
		}
		start, ok := a.list[i].number()
		if !ok || start > maxExtents {
			return fmt.Errorf("the list %s needs a number up to %d behind each name", a.key,
				uint64(maxExtents))
		}
		seg.areas = append(seg.areas, areaText{name.text, start})
	}
	return nil
}
