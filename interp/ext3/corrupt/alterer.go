package corrupt

import (
	"bytes"
	"strings"

	"fsward/interp"
	"fsward/interp/ext3"
	"fsward/interp/ext3/ondisk"
)

// An alterer changes an object in a block that is written to the journal. The descriptor, which
// arrives before the block or with it, names the block that is copied.
type alterer struct {
	survey
	spec    alterSpec
	disk    interp.Disk
	journal ext3.Journal
	seq     uint32            // the first transaction that may be altered
	homes   map[uint32]logTag // tags of the running transaction, by block of the journal
	tags    map[uint32]uint32 // descriptor of a copy, both as blocks of the device
	start   uint32            // where the transaction begins in the journal; 0: not known
	done    bool
}

// NewAlterer returns an Alterer for an ext3 file system. SpecHelp describes spec. If a block has
// several objects, the Alterer alters the object that spec names, or else the first that the
// transaction changes. An inode must be in use, and for a pointer it must be a file with this
// pointer. A bit of a bitmap must be one that the transaction does not change or, for set_freed and
// unset_new, one that it changes. The alterer recognizes blocks by their bytes, so that it cannot
// alter indexes, indirect blocks or the log itself. If the journal has checksums of version 2 or 3,
// it alters a block only if the block comes in one write with its descriptor.
func NewAlterer(d interp.Disk, spec string) (interp.Alterer, error) {
	s, err := parseAlterSpec(spec)
	if err != nil {
		return nil, err
	}
	m, err := ext3.Mount(d, d.Size())
	if err != nil {
		return nil, err
	}
	a := &alterer{spec: s, disk: d, journal: m.Log.Journal, seq: m.Log.NextSeq(),
		homes: make(map[uint32]logTag), tags: make(map[uint32]uint32)}
	a.survey = survey{Snapshot: m.Snapshot, role: a.guess, use: func(uint32) string { return "data" }}
	return a, nil
}

// guess returns the role of a block, judged by its bytes.
func (a *alterer) guess(_ uint32, b []byte) (ext3.Role, bool) {
	switch {
	case ondisk.XattrHeadOf(b).Magic() == ondisk.XattrMagic:
		return ext3.Role{Level: ext3.RoleXattr}, true
	case looksLikeDirectory(b, a.Geo.FileType):
		r := ext3.Role{Level: ext3.RoleDir, Start: 1}
		if b[ondisk.DirentNameLenAt] == 1 && b[ondisk.DirentLen] == '.' {
			r.Start = 0
		}
		return r, true
	}
	return ext3.Role{}, false
}

// looksLikeDirectory reports whether the bytes of a journaled block look like a directory rather
// than file data.
func looksLikeDirectory(b []byte, fileType bool) bool {
	n := 0
	_, fault := ondisk.Entries(b, fileType, func(ondisk.Entry) { n++ })
	return fault == "" && n > 0
}

// Alter changes the write if it contains the object.
func (a *alterer) Alter(w interp.Write) string {
	if w.Data == nil || a.done && !a.journal.Checksum {
		return ""
	}
	bs := uint64(a.Geo.BlockSize)
	var blocks []uint32 // blocks of the journal that the write covers
	for _, r := range a.journal.Runs {
		lo := max((w.Off+bs-1)/bs, uint64(r.Block))
		hi := min((w.Off+w.Len)/bs, uint64(r.Block)+uint64(r.N))
		for b := lo; b < hi; b++ {
			blocks = append(blocks, uint32(b))
		}
	}
	at := func(block uint32) []byte { return w.Data[uint64(block)*bs-w.Off:][:bs] }
	has := func(block uint32) bool {
		return uint64(block)*bs >= w.Off &&
			uint64(block+1)*bs <= w.Off+w.Len
	}
	if !a.done {
		for _, block := range blocks {
			a.follow(block, at(block))
		}
	}
	text := ""
	for _, block := range blocks {
		t, ok := a.homes[block]
		if a.done || !ok || t.Flags&ondisk.TagFlagEscape != 0 || a.journal.CsumVersion != 0 &&
			!has(a.tags[block]) {
			continue
		}
		copied := at(block)
		if text = a.alter(t.Block, copied); text == "" {
			continue
		}
		a.done = true
		if a.journal.CsumVersion != 0 {
			descriptor := at(a.tags[block])
			a.journal.SealTag(descriptor, t.off, ondisk.JournalHeaderOf(descriptor).Sequence(), copied)
			a.journal.SealTail(descriptor)
		}
	}
	if a.done && a.journal.Checksum && a.start != 0 {
		a.sealCommit(w, blocks, at)
	}
	return text
}

// follow learns from descriptors which blocks come next. At a commit it forgets them.
func (a *alterer) follow(block uint32, b []byte) {
	head := ondisk.JournalHeaderOf(b)
	if head.Magic() != ondisk.JournalMagic || int32(head.Sequence()-a.seq) < 0 {
		return
	}
	at, ok := a.journal.Logical(block)
	switch kind := head.Blocktype(); {
	case !ok:
	case kind == ondisk.TypeCommit:
		a.seq, a.start = head.Sequence()+1, a.journal.Next(at)
		clear(a.homes)
		clear(a.tags)
	case kind == ondisk.TypeDescriptor:
		if a.start == 0 {
			a.start = at // the first descriptor that was seen
		}
		for _, t := range logTags(&a.journal, b, at) {
			a.homes[a.journal.Block(t.at)] = t
			a.tags[a.journal.Block(t.at)] = block
		}
	}
}

// sealCommit updates the checksum of version 1 in the commit block of the altered transaction.
func (a *alterer) sealCommit(w interp.Write, blocks []uint32, at func(uint32) []byte) {
	for _, block := range blocks {
		b := at(block)
		if !ondisk.IsCommit(b, a.seq) {
			continue
		}
		dev := ext3.PendingDevice{ReaderAt: a.disk, W: w}
		log, err := logBlocks(&a.journal, dev, ext3.LogEntry{Seq: a.seq, Start: a.start})
		if err != nil {
			return // the device cannot be read: the transaction is refused for its checksum
		}
		err = seal(&a.journal, log, func(n uint32) ([]byte, error) {
			if a.journal.Block(n) == block {
				return b, nil
			}
			return ext3.ReadBlock(dev, a.Geo, a.journal.Block(n))
		})
		if err == nil {
			a.start = 0
		}
	}
}

// alter changes a copy of a block if it holds the object.
func (a *alterer) alter(home uint32, b []byte) string {
	if !a.Geo.InRange(home) {
		return ""
	}
	before, err := ext3.ReadBlock(a.disk, a.Geo, home)
	if err != nil {
		return ""
	}
	had := make(map[string]bool) // names
	if looksLikeDirectory(before, a.Geo.FileType) {
		ondisk.Entries(before, a.Geo.FileType, func(e ondisk.Entry) { had[string(e.Name)] = true })
	}
	d := &draft{sites: make(map[site][]byte), layout: a.Layout,
		load:   func(p site) ([]byte, error) { return bytes.Clone(b), nil },
		before: func(uint32) ([]byte, bool) { return before, true }, others: func(string) ([]target,
			error) {
			return nil, nil
		}}
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

// wanted reports whether an object is to be altered: the transaction changes it, and it is in use.
func (a *alterer) wanted(t target, b, before []byte, had map[string]bool) bool {
	was, is := before[t.off:t.off+t.n], b[t.off:t.off+t.n]
	switch t.object.name {
	case objBlockBitmap, objInodeBitmap:
		left := was[0]>>t.bit&1 == is[0]>>t.bit&1
		return left == (a.spec.action == actSet || a.spec.action == actUnset)
	case objDirent:
		return t.kind != "dot" && t.kind != "dotdot" && t.kind != "unused" &&
			!had[string(nameAt(b, t.off))]
	case objInode:
		i := ondisk.Inode(is)
		pointer := strings.HasPrefix(a.spec.member.Name, "block") &&
			a.spec.member.Off >= ondisk.InodeBlock0At &&
			a.spec.member.Off < ondisk.InodeBlock0At+4*ondisk.NPointers
		if i.Links() == 0 || pointer && (i.Type() != ondisk.ModeRegular || a.spec.member.Get(is) == 0) {
			return false
		}
	case objSuper:
		return true
	}
	return a.spec.id != 0 || !bytes.Equal(was, is)
}

var _ interp.Alterer = (*alterer)(nil)
