package volume

import (
	"fmt"
	"hash/crc32"

	"fsward/interp/disk"
)

const (
	labelMagic   = "LABELONE"
	labelType    = "LVM2 001"
	labelSectors = 4 // the label is in one of them
	mdaMagic     = " LVM2 x[5A%r0N*>"
	mdaHeader    = 512     // bytes
	mdaLocations = 40      // offset of the list of texts
	maxText      = 4 << 20 // bytes of a text; LVM's default area has 1 MiB in all
	ignoredText  = 1       // flag of a location

	// maxTexts bounds the texts that are read from a disk, bytes, of which each counts minText at
	// least. A label can name an area many times, and many partitions can begin at the same byte.
	maxTexts = 16 << 20
	minText  = 4 << 10
)

// pv is a physical volume of LVM.
type pv struct {
	device
	id      string // 32 characters
	size    uint64 // as the label has it, bytes; 0: the device's
	label   uint64 // offset of the sector with the label
	areas   []mda
	faults  []Fault
	damaged string // why a label with the magic cannot be read, "" if it can
	// badLabel means that the checksum of the label is wrong.
	badLabel bool
}

// mda is a metadata area of a PV: a header, and a ring with texts.
type mda struct {
	off, size uint64  // on the device
	text      *vgText // the committed text; nil if there is none
	torn      string  // why the area cannot be read, "" if it can
	badCRC    string  // torn, if a checksum is wrong under the magic
	crc       uint32  // of the committed text
}

// lvmCRC is LVM's calc_crc: the usual polynomial, with another start and without the inversions.
func lvmCRC(b []byte) uint32 {
	const initial = 0xf597a6cf
	return ^crc32.Update(^uint32(initial), crc32.IEEETable, b)
}

// readPV reads the label of a PV and its metadata areas. It returns nil if the device is no PV.
func readPV(d *device) (*pv, error) {
	r, err := d.head(labelSectors * sector)
	if err != nil {
		return nil, err
	}
	for n := range uint64(labelSectors) {
		if uint64(r.Len()) < (n+1)*sector {
			break // a short device
		}
		s := disk.NewRegion(r.Bytes()[n*sector:(n+1)*sector], r.Addr()+n*sector)
		if !hasText(s, 0, labelMagic) || !hasText(s, labelTypeAt, labelType) {
			continue
		}
		p := &pv{device: *d, label: n * sector}
		if p.damaged = p.readLabel(s, n); p.damaged != "" {
			p.fault(p.label, p.damaged)
			return p, nil
		}
		return p, p.readAreas()
	}
	return nil, nil
}

func (p *pv) fault(off uint64, reason string) {
	p.faults = append(p.faults, Fault{p.disk, p.at(off), reason})
}

// readLabel reads a sector with a label, and describes its fault; "" if there is none.
func (p *pv) readLabel(r disk.Region, n uint64) string {
	at := uint64(r.U32(labelStartAt))
	switch {
	case r.U64(labelSectorAt) != n:
		return fmt.Sprintf("the label of a PV names the sector %d as its own",
			r.U64(labelSectorAt))
	case lvmCRC(r.Bytes()[labelStartAt:]) != r.U32(labelCRCAt):
		p.badLabel = true
		return "the checksum of the label of a PV is wrong"
	case at < labelTypeAt+uint64(len(labelType)) || at > sector-pvListsAt:
		return fmt.Sprintf("the header of a PV is at byte %d of its label", at)
	}
	p.id, p.size = string(r.Bytes()[at:at+pvIDBytes]), r.U64(int(at)+pvSizeAt)
	// Two lists of ranges follow, each ended by zeros: data areas and metadata areas.
	list := 0
	for o := int(at) + pvListsAt; o+rangeSize <= sector && list < 2; o += rangeSize {
		off, size := r.U64(o), r.U64(o+8)
		switch {
		case off == 0:
			list++
		case list == 1:
			p.areas = append(p.areas, mda{off: off, size: size})
		}
	}
	return ""
}

// readAreas reads the metadata areas.
func (p *pv) readAreas() error {
	for i := range p.areas {
		a := &p.areas[i]
		if err := p.readArea(a); err != nil {
			return err
		}
		if a.torn != "" {
			p.fault(a.off, a.torn)
		}
	}
	return nil
}

// readArea reads the header of a metadata area, and the text that it commits.
func (p *pv) readArea(a *mda) error {
	r, ok, err := p.read(a.off, mdaHeader)
	if err != nil {
		return err
	}
	if !ok || !p.has(a.off, a.size) || a.size < 2*mdaHeader {
		a.torn = fmt.Sprintf("a metadata area of %d bytes lies behind the end of its PV", a.size)
		return nil
	}
	switch {
	case !hasText(r, mdaMagicAt, mdaMagic) || r.U32(mdaVersionAt) != 1:
		a.torn = "the header of a metadata area has no magic, or an unknown version"
	case lvmCRC(r.Bytes()[mdaMagicAt:]) != r.U32(mdaCRCAt):
		a.torn = "the checksum of the header of a metadata area is wrong"
		a.badCRC = a.torn
	case r.U64(mdaStartAt) != a.off || r.U64(mdaSizeAt) != a.size:
		a.torn = "the header of a metadata area names another place as its own"
	}
	if a.torn != "" {
		return nil
	}
	// The first location is the committed text. A second one is a text that is about to be committed.
	off, n := r.U64(mdaLocations), r.U64(mdaLocations+locationSizeAt)
	crc, flags := r.U32(mdaLocations+locationCRCAt), r.U32(mdaLocations+locationFlagsAt)
	if off == 0 || flags&ignoredText != 0 {
		return nil
	}
	return p.readText(a, off, n, crc)
}

// readText reads a text from the ring behind the header of a metadata area.
func (p *pv) readText(a *mda, off, n uint64, crc uint32) error {
	if off < mdaHeader || off >= a.size || n == 0 || n > min(maxText, a.size-mdaHeader) {
		a.torn = fmt.Sprintf("the metadata of a PV has %d bytes at byte %d of an area of %d", n, off,
			a.size)
		return nil
	}
	cost := max(n, minText)
	if cost > *p.texts {
		a.torn = fmt.Sprintf("the metadata of the PVs of a disk has more than %d bytes", maxTexts)
		return nil
	}
	*p.texts -= cost
	first := min(n, a.size-off)
	r, ok, err := p.read(a.off+off, first)
	if err != nil || !ok {
		return err
	}
	text := r.Bytes()
	if first < n {
		rest, ok, err := p.read(a.off+mdaHeader, n-first)
		if err != nil || !ok {
			return err
		}
		text = append(text, rest.Bytes()...)
	}
	if a.crc = lvmCRC(text); a.crc != crc {
		a.torn = "the checksum of the metadata of a PV is wrong"
		a.badCRC = a.torn
		return nil
	}
	group, err := readGroup(text)
	if err != nil {
		a.torn = fmt.Sprintf("the metadata of a PV cannot be read: %v", err)
		return nil
	}
	a.text = group
	return nil
}

// regions returns the bytes of the label and of the metadata areas.
func (p *pv) regions() []Extent {
	all := []Extent{p.extent(p.label, sector)}
	for _, a := range p.areas {
		if e := p.extent(a.off, a.size); e.Len > 0 {
			all = append(all, e)
		}
	}
	return all
}

// names reports whether a committed text on the PV is that of another VG than one with an id.
func (p *pv) names(other string) bool {
	for _, a := range p.areas {
		if a.text != nil && a.text.id != other {
			return true
		}
	}
	return false
}
