package corrupt

import (
	"fsward/interp/ext3"
	"fsward/interp/ext3/ondisk"
)

// directory visits the entries of a block of a directory, and its part of the index.
func (s *survey) directory(r ext3.Role, block uint32, b []byte, visit func(target)) error {
	var i ondisk.Inode
	if r.Ino != 0 {
		var err error
		if i, err = s.Inode(r.Ino); err != nil {
			return err
		}
	}
	d := dirBlock{Role: r, block: block, b: b, indexed: i != nil && i.HasIndex(), visit: visit}
	if d.indexed {
		index := ext3.NewIndexReader(s.Snapshot, r.Ino, i)
		if err := index.Read(); err != nil {
			return err
		}
		switch {
		case r.Start == 0:
			d.index("root", ondisk.IndexRootInfo, ondisk.IndexRootEntries)
		case index.IsNode(r.Start):
			// A node has an entry that covers the node instead of the info of a root. Its limit and
			// count are at the same distance.
			d.index("node", ondisk.IndexNodeEntries-ondisk.IndexInfoLen, ondisk.IndexNodeEntries)
			return nil
		}
	}
	d.entries()
	return nil
}

// A dirBlock is a block of a directory whose objects are visited.
type dirBlock struct {
	ext3.Role
	block   uint32
	b       []byte
	indexed bool // the directory
	visit   func(target)
}

func (d *dirBlock) add(object string, off, n int, kind string) {
	d.visit(target{object: findAlterable(object), site: site{false, d.block}, off: off, n: n,
		kind: kind, id: uint64(d.Ino),
		ino: ondisk.LE32(d.b, min(off, len(d.b)-4))})
}

// index visits the head of a root or a node, at info, and its entries, which begin with the limit
// and the count.
func (d *dirBlock) index(kind string, info, entries int) {
	d.add(objIndex, info, ondisk.IndexInfoLen+4, kind)
	for n := range int(ondisk.IndexHeadOf(d.b[entries-ondisk.IndexInfoLen:]).Count()) {
		if off := entries + n*ondisk.IndexEntryLen; off+ondisk.IndexEntryLen <= len(d.b) {
			d.add(objIndexEntry, off, ondisk.IndexEntryLen, kind)
		}
	}
}

func (d *dirBlock) entries() {
	for off, n := 0, 0; off+ondisk.DirentLen <= len(d.b); n++ {
		length := ondisk.RecLen(d.b, off)
		if length < ondisk.DirentLen || off+length > len(d.b) {
			break
		}
		d.add(objDirent, off, length, d.entryKind(off, n))
		off += length
	}
}

// entryKind returns the kind of the n-th entry of the block.
func (d *dirBlock) entryKind(off, n int) string {
	switch {
	case ondisk.LE32(d.b, off) == 0:
		return "unused"
	case d.Start == 0 && n == 0:
		return "dot"
	case d.Start == 0 && n == 1:
		return "dotdot"
	case d.Ino == ondisk.RootIno:
		return "root"
	case d.indexed:
		return "indexed"
	}
	return "linear"
}
