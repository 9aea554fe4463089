package volume

import (
	"cmp"
	"slices"

	"fsward/interp"
)

// A tool writes a table piece by piece: the array of a GPT before or after its header, one sector
// of a chain of logical partitions after the other. A table that is not whole does not count. What
// the disk had before stays.

// retainTable keeps the table of an earlier moment if the present one is not whole. old is nil if
// there is no earlier moment: a table counts as far as it is sound then.
func (s *diskState) retainTable(old *diskState) {
	if s.table == nil {
		return
	}
	s.copies = s.table.gpt
	if old != nil && old.table != nil && s.table.kind == MBR {
		s.retainChains(old.table)
	}
	if old == nil || s.table.torn == "" {
		return
	}
	s.watched = s.table.regions
	s.table = old.table
}

// retainChains keeps the logical partitions of an extended partition whose chain is not whole.
func (s *diskState) retainChains(old *table) {
	parts := s.table.parts
	for _, c := range parts {
		if !c.torn {
			continue
		}
		s.table.parts = slices.DeleteFunc(slices.Clone(s.table.parts),
			func(p part) bool { return p.inside == c.number })
		for _, p := range old.parts {
			if old.startOf(p.inside) == c.start && within(p.start, p.size, c.start, c.size) {
				p.inside = c.number
				s.table.parts = append(s.table.parts, p)
			}
		}
	}
}

// startOf returns the first byte of the extended partition with a number, 0 if there is none.
func (t *table) startOf(container int) uint64 {
	for _, p := range t.parts {
		if p.container && p.number == container {
			return p.start
		}
	}
	return 0
}

// pvAt returns the PV at the place of a device, nil if there is none.
func (s *diskState) pvAt(d *device) *pv {
	if s == nil {
		return nil
	}
	return s.byOff[d.off]
}

// retain keeps the earlier metadata of a PV where the present one cannot be read.
func (p *pv) retain(old *pv) *pv {
	if p == nil || old == nil || old.damaged != "" {
		return p
	}
	if p.damaged != "" {
		kept := *old
		kept.device, kept.faults, kept.badLabel = p.device, p.faults, p.badLabel
		return &kept
	}
	for i := range p.areas {
		a := &p.areas[i]
		if a.torn == "" || p.id != old.id {
			continue
		}
		for _, before := range old.areas {
			if before.off == a.off {
				a.text, a.crc = before.text, before.crc
			}
		}
	}
	return p
}

// writeFault describes the damage that a write does to a table, "" if there is none. A tool writes
// a sector with its own checksum as a whole, so that it cannot leave the sector damaged. Damage
// from before the write does not count.
func (s *diskState) writeFault(old *diskState, off, n uint64) (check, reason string, at uint64) {
	touches := func(start, size uint64) bool { return off < start+size && start < off+n }
	if g, was := s.copies, old.copies; g != nil {
		for i, c := range []*gptCopy{&g.primary, &g.backup} {
			size := cmp.Or(s.tableSector(), sector)
			damaged := was != nil && []*gptCopy{&was.primary, &was.backup}[i].badHeader
			if c.badHeader && !damaged && touches(c.lba*size, size) {
				return "gpt-header", c.fault, c.lba * size
			}
		}
	}
	for _, p := range s.pvs {
		was := old.pvAt(&p.device)
		if label := p.off + p.label; p.badLabel && (was == nil || !was.badLabel) &&
			touches(label, sector) {
			return "lvm-label", "the checksum of the label of a PV is wrong", label
		}
		for i, a := range p.areas {
			if a.badCRC == "" || was != nil && i < len(was.areas) && was.areas[i].badCRC != "" {
				continue
			}
			if touches(p.off+a.off, mdaHeader) {
				return "lvm-metadata", a.badCRC, p.off + a.off
			}
		}
	}
	return "", "", 0
}

func (s *diskState) tableSector() uint64 {
	if s.table == nil {
		return 0
	}
	return s.table.sector
}

// follow notes which copies of the GPT have changed.
func (s *diskState) follow(old *diskState) {
	s.changed = old.changed
	if s.copies == nil {
		s.changed = [2]bool{}
		return
	}
	was := old.copies
	if was == nil {
		was = &gptCopies{}
	}
	s.changed[0] = s.changed[0] || s.copies.primary.landed(&was.primary)
	s.changed[1] = s.changed[1] || s.copies.backup.landed(&was.backup)
	if s.copies.agree() {
		s.changed = [2]bool{}
	}
}

// landed reports whether the copy is sound and another one than before.
func (c *gptCopy) landed(was *gptCopy) bool {
	return c.fault == "" && c.headerCRC != was.headerCRC
}

// landed reports whether both copies of the GPT were written since they last agreed.
func (s *diskState) landed() bool { return s.changed[0] && s.changed[1] }

// rebase makes later reads read the disk itself: it has the write under observation by then.
func (s *diskState) rebase(d interp.Disk) {
	s.whole.all = d
	for _, p := range s.pvs {
		p.all = d
	}
}
