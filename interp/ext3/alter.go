package ext3

import (
	"bytes"
	"strings"

	"fsward/interp"
)

// An alterer changes an object in a block on its way into the journal. What a journal block is a copy of,
// the descriptor before it says, which arrives before it or with it.
type alterer struct {
	survey
	spec    alterSpec
	disk    interp.Disk
	journal journal
	seq     uint32            // the lowest transaction that may be altered
	homes   map[uint32]logTag // by block of the journal, of the running transaction
	tags    map[uint32]uint32 // where the descriptor of a copy is, both by block of the device
	start   uint32            // where the transaction begins in the journal; 0: not known
	done    bool
}

// NewAlterer returns an Alterer for an ext3 file system; SpecHelp says what spec may be. Of several objects in
// a block, the first one that the transaction changes is altered, or the one that the spec names; of inodes, one in use, and for a pointer
// a file that has it; of the bits of a bitmap, one that the transaction leaves alone, or for set_freed and
// unset_new one that it changes. What stands where is told from the bytes, so that indexes, indirect blocks and the log
// itself cannot be altered. If the journal has checksums of version 2 or 3, a block is altered that comes in one write
// with its descriptor.
func NewAlterer(d interp.Disk, spec string) (interp.Alterer, error) {
	s, err := parseAlterSpec(spec)
	if err != nil {
		return nil, err
	}
	m, err := mount(d, d.Size())
	if err != nil {
		return nil, err
	}
	a := &alterer{spec: s, disk: d, journal: m.journal, seq: m.seq, homes: make(map[uint32]logTag), tags: make(map[uint32]uint32)}
	a.survey = survey{layout: m.layout, state: m.state, role: a.guess, use: func(uint32) string { return "data" }}
	return a, nil
}

// guess tells what a block is from its bytes.
func (a *alterer) guess(_ uint32, b []byte) (role, bool) {
	switch {
	case le32(b, 0) == xattrMagic:
		return role{level: roleXattr}, true
	case looksLikeDirectory(b, a.geo.fileType):
		r := role{level: roleDir, start: 1}
		if b[dirNameLen] == 1 && b[dirHeaderLen] == '.' {
			r.start = 0
		}
		return r, true
	}
	return role{}, false
}

// looksLikeDirectory tells a directory block from file data in the journal, as far as bytes can tell.
func looksLikeDirectory(b []byte, fileType bool) bool {
	n := 0
	_, fault := entries(b, fileType, func(entry) { n++ })
	return fault == "" && n > 0
}

// Alter changes the write if the object is in it.
func (a *alterer) Alter(w interp.Write) string {
	if w.Data == nil || a.done && !a.journal.checksum {
		return ""
	}
	bs := uint64(a.geo.blockSize)
	var blocks []uint32 // of the journal, that the write has as a whole
	for _, r := range a.journal.runs {
		lo := max((w.Off+bs-1)/bs, uint64(r.block))
		hi := min((w.Off+w.Len)/bs, uint64(r.block)+uint64(r.n))
		for b := lo; b < hi; b++ {
			blocks = append(blocks, uint32(b))
		}
	}
	at := func(block uint32) []byte { return w.Data[uint64(block)*bs-w.Off:][:bs] }
	has := func(block uint32) bool { return uint64(block)*bs >= w.Off && uint64(block+1)*bs <= w.Off+w.Len }
	if !a.done {
		for _, block := range blocks {
			a.follow(block, at(block))
		}
	}
	text := ""
	for _, block := range blocks {
		t, ok := a.homes[block]
		if a.done || !ok || t.flags&tagFlagEscape != 0 || a.journal.csum != 0 && !has(a.tags[block]) {
			continue
		}
		copied := at(block)
		if text = a.alter(t.block, copied); text == "" {
			continue
		}
		a.done = true
		if a.journal.csum != 0 {
			descriptor := at(a.tags[block])
			a.journal.sealTag(descriptor, t, be32(descriptor, 8), copied)
			a.journal.sealTail(descriptor)
		}
	}
	if a.done && a.journal.checksum && a.start != 0 {
		a.sealCommit(w, blocks, at)
	}
	return text
}

// follow learns from descriptors which blocks come after them, and forgets at a commit.
func (a *alterer) follow(block uint32, b []byte) {
	if be32(b, 0) != journalMagic || int32(be32(b, 8)-a.seq) < 0 {
		return
	}
	at, ok := a.journal.logical(block)
	switch kind := be32(b, 4); {
	case !ok:
	case kind == typeCommit:
		a.seq, a.start = be32(b, 8)+1, a.journal.next(at)
		clear(a.homes)
		clear(a.tags)
	case kind == typeDescriptor:
		if a.start == 0 {
			a.start = at // the first one seen
		}
		for _, t := range a.journal.logTags(b, at) {
			a.homes[a.journal.block(t.at)] = t
			a.tags[a.journal.block(t.at)] = block
		}
	}
}

// sealCommit makes the checksum of version 1 in the commit block of the altered transaction right again.
func (a *alterer) sealCommit(w interp.Write, blocks []uint32, at func(uint32) []byte) {
	for _, block := range blocks {
		b := at(block)
		if !isCommit(b, a.seq) {
			continue
		}
		dev := pending{a.disk, w}
		log, err := a.journal.logBlocks(dev, a.start, a.seq)
		if err != nil {
			return // the device cannot be read: the transaction is refused for its checksum
		}
		err = a.journal.seal(log, func(n uint32) ([]byte, error) {
			if a.journal.block(n) == block {
				return b, nil
			}
			return readBlock(dev, a.geo, a.journal.block(n))
		})
		if err == nil {
			a.start = 0
		}
	}
}

// alter changes the copy of a block if it has the object.
func (a *alterer) alter(home uint32, b []byte) string {
	if !a.geo.inRange(home) {
		return ""
	}
	before, err := readBlock(a.disk, a.geo, home)
	if err != nil {
		return ""
	}
	had := make(map[string]bool) // names
	if looksLikeDirectory(before, a.geo.fileType) {
		entries(before, a.geo.fileType, func(e entry) { had[string(e.name)] = true })
	}
	d := &draft{sites: make(map[site][]byte), layout: a.layout,
		load:   func(p site) ([]byte, error) { return bytes.Clone(b), nil },
		before: func(uint32) ([]byte, bool) { return before, true }, others: func(string) ([]target, error) { return nil, nil }}
	err = a.block(home, b, func(t target) {
		if t.object == a.spec.object {
			d.ts = append(d.ts, t)
		}
	})
	if err != nil {
		return ""
	}
	for i, t := range d.ts {
		if !a.spec.fits(t) || !a.wanted(t, b, before, had) {
			continue
		}
		clear(d.sites)
		if text, ok, err := d.apply(&a.spec, i); err == nil && ok {
			copy(b, d.sites[t.site])
			return text
		}
	}
	return ""
}

// wanted tells whether an object is one to be altered: the transaction changes it, and it is in use.
func (a *alterer) wanted(t target, b, before []byte, had map[string]bool) bool {
	was, is := before[t.off:t.off+t.n], b[t.off:t.off+t.n]
	switch t.object.name {
	case objBlockBitmap, objInodeBitmap:
		left := was[0]>>t.bit&1 == is[0]>>t.bit&1
		return left == (a.spec.action == actSet || a.spec.action == actUnset)
	case objDirent:
		return t.kind != "dot" && t.kind != "dotdot" && t.kind != "unused" && !had[string(nameAt(b, t.off))]
	case objInode:
		i := inode(is)
		pointer := strings.HasPrefix(a.spec.member.name, "block") && a.spec.member.off >= iBlock && a.spec.member.off < iBlock+4*nPointers
		if i.links() == 0 || pointer && (i.typ() != modeRegular || a.spec.member.get(is) == 0) {
			return false
		}
	case objSuper:
		return true
	}
	return a.spec.id != 0 || !bytes.Equal(was, is)
}

var _ interp.Alterer = (*alterer)(nil)
