package corrupt

import (
	"fmt"

	"fsward/interp/ext3/ondisk"
)

// A site is a block that can be altered: a block of the file system, wherever its contents are, or
// a block of the log.
type site struct {
	log   bool
	block uint32 // of the file system; of the journal
}

// A target is an object in a site.
type target struct {
	object *alterable
	site   site
	off, n int // place and length, bytes
	bit    uint32
	kind   string
	id     uint64
	ino    uint32 // of a dirent, the inode that it names
}

// name describes a target.
func (t *target) name() string {
	switch t.object.name {
	case objSuper, objJournal:
		return t.object.name
	case objGroup, objInode:
		return fmt.Sprintf("%s %d", t.object.name, t.id)
	case objBlockBitmap, objInodeBitmap:
		return fmt.Sprintf("%s: bit of %d (%s)", t.object.name, t.id, t.kind)
	}
	if t.site.log {
		return fmt.Sprintf("%s at byte %d of block %d of the journal", t.object.name, t.off, t.site.block)
	}
	return fmt.Sprintf("%s of %d at byte %d of block %d", t.object.name, t.id, t.off, t.site.block)
}

// logTargets visits the objects of a transaction in the log.
func logTargets(log []logBlock, visit func(target)) {
	for _, l := range log {
		add := func(object string, off, n int) {
			visit(target{object: findAlterable(object), site: site{true, l.at}, off: off, n: n})
		}
		switch l.kind {
		case ondisk.TypeDescriptor:
			add(objDescriptor, 0, ondisk.JournalHeaderLen)
			for _, t := range l.tags {
				add(objTag, t.off, 8)
			}
		case ondisk.TypeRevoke:
			add(objRevoke, 0, ondisk.RevokeHeadLen)
			for off := ondisk.RevokeHeadLen; off+l.width <= l.used; off += l.width {
				add(objRevoked, off+l.width-4, 4)
			}
		case ondisk.TypeCommit:
			add(objCommit, 0, 60)
		}
	}
}
