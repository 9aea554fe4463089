package volume

import (
	"fmt"

	"fsward/interp/disk"
)

const (
	mbrEntries   = 446 // offset of the four entries
	mbrEntry     = 16  // bytes
	mbrSignature = 510
	typeGPT      = 0xee
	maxLogical   = 128 // Linux follows 100 links of the chain
)

// mbrPart is an entry of an MBR or of a sector of the chain of an extended partition.
type mbrPart struct {
	boot, typ    uint8
	start, count uint64 // sectors
}

func (p mbrPart) extended() bool { return p.typ == 0x05 || p.typ == 0x0f || p.typ == 0x85 }

// entriesOf returns the four entries of a sector. ok is false if it has no signature.
func entriesOf(r disk.Region) (parts [4]mbrPart, ok bool) {
	if r.Len() < sector || r.U8(mbrSignature) != 0x55 || r.U8(mbrSignature+1) != 0xaa {
		return parts, false
	}
	for i := range parts {
		o := mbrEntries + i*mbrEntry
		parts[i] = mbrPart{boot: r.U8(o), typ: r.U8(o + 4), start: uint64(r.U32(o + 8)),
			count: uint64(r.U32(o + 12))}
	}
	return parts, true
}

// tabular reports whether the flags of all entries are those of a table. Linux and libblkid take
// other sectors for boot code.
func tabular(parts [4]mbrPart) bool {
	for _, p := range parts {
		if p.boot&0x7f != 0 {
			return false
		}
	}
	return true
}

// readMBR reads the MBR of a disk and the chains of its extended partitions. It returns nil if the
// disk has no table.
//
// A sector 0 with the signature 0x55AA need not be a table. The boot sectors of FAT, exFAT and NTFS
// end with it, and so does boot code in front of ext3 or Btrfs. As for libblkid and Linux, there is
// no table if the sector has the parameters of one of these file systems, if a flag of an entry is
// neither 0 nor 0x80, or if all entries are empty. LVM decides likewise whether a disk is
// partitioned.
//
// If there are entries and the superblock of an ext3 or a Btrfs, the table wins if it makes sense:
// its partitions lie on the disk behind sector 0, and apart. mkfs clears sector 0, so that a table
// that makes sense is younger than the superblock, and Linux shows the guest its partitions. A
// table that makes no sense is boot code, and the file system has the whole disk.
func readMBR(d *device) (*table, error) {
	r, err := d.head(sector)
	if err != nil {
		return nil, err
	}
	parts, ok := entriesOf(r)
	if !ok || !tabular(parts) || hasBootParameters(r) {
		return nil, nil
	}
	t := &table{kind: MBR, name: fmt.Sprintf("0x%08x", r.U32(mbrSignatureAt)),
		regions: []Extent{d.extent(0, sector)}}
	for i, p := range parts {
		if p.count == 0 || p.typ == 0 {
			continue
		}
		if p.start == 0 || p.typ == typeGPT {
			return nil, nil // an image for CDs and disks, or what is left of a GPT
		}
		if !p.extended() {
			t.add(d, i+1, p.start*sector, p.count*sector, fmt.Sprintf("0x%02x", p.typ), "")
			continue
		}
		t.parts = append(t.parts, part{number: i + 1, start: p.start * sector, size: p.count * sector,
			typ: fmt.Sprintf("0x%02x", p.typ), container: true})
	}
	if len(t.parts) == 0 {
		return nil, nil
	}
	if t.absurd(d) {
		if found, err := hasSuperblock(d); err != nil || found {
			return nil, err
		}
	}
	return t, t.readChains(d)
}

// readChains reads the logical partitions of every extended partition.
func (t *table) readChains(d *device) error {
	number := 5
	for _, p := range t.parts {
		if !p.container {
			continue
		}
		if err := t.readChain(d, p, &number); err != nil {
			return err
		}
	}
	return nil
}

// readChain reads the logical partitions of an extended partition. Each sector of the chain
// describes one, relative to itself, and names the next sector, relative to the extended partition.
func (t *table) readChain(d *device, extended part, number *int) error {
	at := extended.start
	for range maxLogical {
		if !within(at, sector, extended.start, extended.size) {
			t.tearChain(d, extended.number, at,
				"a sector of the chain of logical partitions lies outside the extended partition")
			return nil
		}
		t.regions = append(t.regions, d.extent(at, sector))
		r, ok, err := d.read(at, sector)
		if err != nil {
			return err
		}
		parts, signed := entriesOf(r)
		if !ok || !signed || !tabular(parts) {
			t.tearChain(d, extended.number, at, "a sector of the chain of logical partitions is none")
			return nil
		}
		next := uint64(0)
		for _, p := range parts[:2] {
			switch {
			case p.count == 0 || p.typ == 0:
			case !p.extended():
				t.addLogical(d, extended, part{number: *number, start: at + p.start*sector,
					size: p.count * sector, typ: fmt.Sprintf("0x%02x", p.typ)})
				*number++
			case next == 0:
				next = extended.start + p.start*sector
			}
		}
		if next == 0 {
			return nil
		}
		if next == extended.start || t.seen(d.at(next)) {
			t.tearChain(d, extended.number, at, "the chain of logical partitions is a circle")
			return nil
		}
		at = next
	}
	t.tearChain(d, extended.number, at,
		fmt.Sprintf("the chain of logical partitions has more than %d links", maxLogical))
	return nil
}

func (t *table) addLogical(d *device, extended, p part) {
	if !within(p.start, p.size, extended.start, extended.size) {
		t.tearChain(d, extended.number, p.start, fmt.Sprintf(
			"p%d lies outside the extended partition p%d", p.number, extended.number))
		return
	}
	t.add(d, p.number, p.start, p.size, p.typ, "").inside = extended.number
}

// seen reports whether a region of the table begins at an address.
func (t *table) seen(addr uint64) bool {
	for _, r := range t.regions {
		if r.Addr == addr {
			return true
		}
	}
	return false
}

// within reports whether n bytes at off lie in a range. The check cannot overflow.
func within(off, n, start, size uint64) bool {
	return off >= start && off-start <= size && n <= size-(off-start)
}
