package volume

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"strings"
	"unicode/utf16"

	"fsward/interp/disk"
)

const (
	gptMagic       = "EFI PART"
	gptHeaderBytes = 92
	gptMinEntry    = 128
	gptMaxArray    = 4 << 20 // bytes of all entries, as in Linux
	typeBIOSBoot   = "21686148-6449-6e6f-744e-656564454649"
	zeroGUID       = "00000000-0000-0000-0000-000000000000"
)

// gptCopy is one of the two copies of a GPT.
type gptCopy struct {
	lba    uint64
	signed bool   // it has the magic
	fault  string // "" if its checksums and bounds are right
	// badHeader means that the checksum of the header is wrong.
	badHeader bool
	// fields of the header, if fault is ""
	alternate, firstUsable, lastUsable uint64
	entriesAt                          uint64 // LBA
	count, entrySize                   uint64
	guid                               string
	entries                            []byte
	headerCRC, arrayCRC                uint32
}

// gptCopies are both copies of a GPT.
type gptCopies struct{ primary, backup gptCopy }

// agree reports whether both copies are sound and describe the same partitions.
func (g *gptCopies) agree() bool {
	p, b := &g.primary, &g.backup
	return p.fault == "" && b.fault == "" && p.guid == b.guid && p.alternate == b.lba &&
		b.alternate == p.lba && p.firstUsable == b.firstUsable && p.lastUsable == b.lastUsable &&
		p.count == b.count && p.entrySize == b.entrySize && bytes.Equal(p.entries, b.entries)
}

// readGPT reads the GPT of a disk: nil if there is none. As for Linux, a disk has a GPT only if an
// entry of its MBR, of the type 0xEE, begins at sector 1. If the primary copy is damaged, the
// backup says which partitions there are, as for UEFI and gdisk.
func readGPT(d *device) (*table, error) {
	r, err := d.head(sector)
	if err != nil {
		return nil, err
	}
	if !protective(r) {
		return nil, nil
	}
	for _, size := range []uint64{sector, 8 * sector} {
		if t, err := readGPTWith(d, size); t != nil || err != nil {
			return t, err
		}
	}
	return nil, nil
}

func protective(r disk.Region) bool {
	parts, _ := entriesOf(r)
	for _, p := range parts {
		if p.typ == typeGPT && p.start == 1 {
			return true
		}
	}
	return false
}

// readGPTWith reads a GPT with sectors of size bytes.
func readGPTWith(d *device, size uint64) (*table, error) {
	if d.size < 6*size {
		return nil, nil
	}
	last := d.size/size - 1
	g := &gptCopies{}
	var err error
	if g.primary, err = readCopy(d, size, 1); err != nil {
		return nil, err
	}
	if g.primary.fault == "" && g.primary.alternate <= last {
		if g.backup, err = readCopy(d, size, g.primary.alternate); err != nil {
			return nil, err
		}
	}
	if !g.backup.signed && g.primary.alternate != last {
		if g.backup, err = readCopy(d, size, last); err != nil {
			return nil, err
		}
	}
	if !g.primary.signed && !g.backup.signed {
		return nil, nil
	}
	t := &table{kind: GPT, gpt: g, sector: size, regions: []Extent{d.extent(0, 2*size)}}
	t.useCopies(d, last)
	return t, nil
}

// useCopies takes the partitions from the primary copy or, if it is damaged, from the backup.
func (t *table) useCopies(d *device, last uint64) {
	g, size := t.gpt, t.sector
	if g.primary.fault != "" {
		t.tear(d, size, "primary GPT: "+g.primary.fault)
	}
	if g.backup.fault != "" {
		t.fault(d, g.backup.lba*size, "backup GPT: "+g.backup.fault)
	}
	t.regions = append(t.regions, d.extent(last*size, size), d.extent(g.backup.lba*size, size))
	for _, c := range []*gptCopy{&g.primary, &g.backup} {
		if c.count > 0 {
			t.regions = append(t.regions, d.extent(c.entriesAt*size, c.count*c.entrySize))
		}
	}
	use := &g.primary
	if use.fault != "" {
		use = &g.backup
	}
	if use.fault != "" {
		return
	}
	t.name = use.guid
	t.firstUsable, t.endUsable = use.firstUsable*size, (use.lastUsable+1)*size
	t.addEntries(d, use)
	if g.primary.fault == "" && g.backup.fault == "" && !g.agree() {
		t.fault(d, g.backup.lba*size, "backup GPT differs from the primary")
	}
}

// addEntries adds the partitions of a sound copy.
func (t *table) addEntries(d *device, c *gptCopy) {
	for i := range c.count {
		e := disk.NewRegion(c.entries[i*c.entrySize:(i+1)*c.entrySize], 0)
		typ := guid(e, entryTypeAt)
		if typ == zeroGUID {
			continue
		}
		first, end := e.U64(entryFirstAt), e.U64(entryLastAt)
		if first < c.firstUsable || end > c.lastUsable || first > end {
			t.fault(d, c.entriesAt*t.sector, fmt.Sprintf(
				"p%d has the sectors %d to %d: outside the usable sectors %d to %d", i+1, first, end,
				c.firstUsable, c.lastUsable))
		}
		if first > end {
			continue
		}
		const most = stride / sector // no sector of a disk is there, and sums do not overflow
		first, end = min(first, most), min(end, 2*most)
		p := t.add(d, int(i)+1, first*t.sector, (end-first+1)*t.sector, typ, label(e))
		p.guid = guid(e, entryGUIDAt)
		if typ == typeBIOSBoot && p.unguarded == "" {
			p.unguarded = "boot code (BIOS boot partition)"
		}
	}
}

// readCopy reads a copy of a GPT whose header is at an LBA of the disk.
func readCopy(d *device, size, lba uint64) (gptCopy, error) {
	c := gptCopy{lba: lba}
	r, ok, err := d.read(lba*size, size)
	if err != nil || !ok {
		c.fault = "its header lies behind the end of the disk"
		return c, err
	}
	if string(r.Bytes()[:8]) != gptMagic {
		c.fault = "there is no header"
		return c, nil
	}
	c.signed = true
	if c.fault = c.readHeader(r, d.size/size); c.fault != "" {
		return c, nil
	}
	array, ok, err := d.read(c.entriesAt*size, c.count*c.entrySize)
	if err != nil {
		return c, err
	}
	switch {
	case !ok:
		c.fault = "the entries lie behind the end of the disk"
	case crc32.ChecksumIEEE(array.Bytes()) != c.arrayCRC:
		c.fault = "the checksum of the entries is wrong"
	default:
		c.entries = array.Bytes()
	}
	return c, nil
}

// readHeader reads and checks a header, and describes its fault; "" if there is none. sectors is
// the size of the disk.
func (c *gptCopy) readHeader(r disk.Region, sectors uint64) string {
	n := uint64(r.U32(gptHeaderSizeAt))
	if n < gptHeaderBytes || n > uint64(r.Len()) {
		return fmt.Sprintf("the header has %d bytes", n)
	}
	head := bytes.Clone(r.Bytes()[:n])
	clear(head[gptHeaderCRCAt : gptHeaderCRCAt+crc32.Size])
	if c.headerCRC = r.U32(gptHeaderCRCAt); crc32.ChecksumIEEE(head) != c.headerCRC {
		c.badHeader = true
		return "the checksum of the header is wrong"
	}
	c.alternate, c.guid = r.U64(gptAlternateAt), guid(r, gptDiskGUIDAt)
	c.firstUsable, c.lastUsable = r.U64(gptFirstUsableAt), r.U64(gptLastUsableAt)
	c.entriesAt, c.arrayCRC = r.U64(gptEntriesAt), r.U32(gptArrayCRCAt)
	c.count, c.entrySize = uint64(r.U32(gptCountAt)), uint64(r.U32(gptEntrySizeAt))
	fault := ""
	switch {
	case r.U64(gptMyLBAAt) != c.lba:
		fault = fmt.Sprintf("the header names the sector %d as its own", r.U64(gptMyLBAAt))
	case c.entrySize < gptMinEntry || c.entrySize&(c.entrySize-1) != 0:
		fault = fmt.Sprintf("an entry has %d bytes", c.entrySize)
	case c.count == 0 || c.count > gptMaxArray/c.entrySize:
		fault = fmt.Sprintf("there are %d entries of %d bytes", c.count, c.entrySize)
	case c.entriesAt >= sectors:
		fault = "the entries lie behind the end of the disk"
	case c.firstUsable > c.lastUsable || c.lastUsable >= sectors:
		fault = fmt.Sprintf("the usable sectors are %d to %d of %d", c.firstUsable, c.lastUsable, sectors)
	}
	if fault != "" {
		c.count = 0
	}
	return fault
}

// guid returns the text of a GUID: its first three parts are little-endian.
func guid(r disk.Region, o int) string {
	b := r.Bytes()[o : o+16]
	return fmt.Sprintf("%08x-%04x-%04x-%s-%s", r.U32(o), r.U16(o+4), r.U16(o+6),
		hex.EncodeToString(b[8:10]), hex.EncodeToString(b[10:16]))
}

// label returns the name of an entry.
func label(e disk.Region) string {
	var units []uint16
	for o := 56; o < gptMinEntry; o += 2 {
		units = append(units, e.U16(o))
	}
	name, _, _ := strings.Cut(string(utf16.Decode(units)), "\x00")
	return name
}
