package ext3

import (
	"fsward/change"
	"fsward/interp/ext3/ondisk"
)

// compareXattrBlock compares an extended attribute block, and checks it.
func (d *inodeDiff) compareXattrBlock(block uint32) error {
	o := change.Object{Kind: ondisk.KindXattrBlock, ID: uint64(block)}
	value := func(b []byte) func(change.Field) change.Value {
		if ondisk.XattrHeadOf(b).Magic() != ondisk.XattrMagic {
			return nil
		}
		return ondisk.XattrLayout.Values(b)
	}
	var old, now func(change.Field) change.Value
	if wasRole, ok := d.roles.Get(block); ok && wasRole.Level == RoleXattr {
		b, err := d.old.Block(block)
		if err != nil {
			return err
		}
		old = value(b)
	}
	used, err := d.new.allocated(block)
	if err != nil {
		return err
	}
	switch {
	case !used && d.image != nil:
	case !used:
		d.noRole[block] = Role{Level: RoleXattr}
	default:
		b, err := d.new.Block(block)
		if err != nil {
			return err
		}
		now = value(b)
		for _, v := range d.checkXattrBlock(block, b) {
			d.fault(v)
		}
	}
	if old != nil || now != nil {
		d.object(o, schema.Kinds[ondisk.KindXattrBlock].Fields, old, now, ondisk.FieldRefcount)
	}
	return nil
}

// An xattrChange is an inode that names another extended attribute block than before; 0: none.
type xattrChange struct{ ino, was, is uint32 }

// object returns the object in the records of an xattrChange of a block.
func (s xattrChange) object(block uint32) change.Object {
	return change.Object{Kind: ondisk.KindXattrOwner, ID: uint64(block), Sub: uint64(s.ino)}
}

// xattrRecords makes the records of an xattrChange.
func (r *records) xattrRecords(s xattrChange) {
	if s.was != 0 {
		r.txn.Delete(s.object(s.was))
	}
	if s.is != 0 {
		r.txn.Add(s.object(s.is))
	}
}

// checkBody checks an inode after its first 128 bytes: the length of its additional fields, and the
// extended attributes after them.
func (d *compared) checkBody(ino uint32) error {
	_, after, err := d.sides(ino)
	if err != nil || !after.exists() {
		return err
	}
	block, off := d.inodePlace(ino)
	b, err := d.new.Block(block)
	if err != nil {
		return err
	}
	raw := b[off : off+d.Geo.InodeSize]
	fault := func(at int, format string, args ...any) {
		d.fault(on(checkInodeXattr.at(d.inodeAddr(ino)+uint64(at), format, args...), ondisk.KindInode,
			uint64(ino)))
	}
	extra := int(ondisk.InodeLargeOf(raw).ExtraIsize())
	switch {
	case extra == 0:
		return nil // written by a kernel that does not use this room
	case extra < ondisk.MinExtraSize || extra%4 != 0 || extra > len(raw)-ondisk.InodeLen:
		fault(ondisk.InodeLargeExtraIsizeAt, "i_extra_isize is %d, want a multiple of 4 from %d to %d",
			extra, ondisk.MinExtraSize, len(raw)-ondisk.InodeLen)
		return nil
	}
	head := ondisk.InodeLen + extra
	if len(raw)-head < 2*ondisk.XattrBodyHead || ondisk.LE32(raw, head) != ondisk.XattrMagic {
		return nil
	}
	first := head + ondisk.XattrBodyHead
	if at, what := ondisk.CheckXattrEntries(raw[first:], 0, false); what != "" {
		fault(first+at, "%s", what)
	}
	return nil
}

// checkXattrBlock checks the contents of an extended attribute block.
func (l *Layout) checkXattrBlock(block uint32, b []byte) (faults []change.Violation) {
	switch {
	case ondisk.XattrHeadOf(b).Magic() != ondisk.XattrMagic || ondisk.XattrHeadOf(b).Refcount() == 0 ||
		ondisk.XattrHeadOf(b).Blocks() != 1:
		return append(faults, checkXattr.at(l.Geo.Addr(block), "magic %#x, %d references, %d blocks",
			ondisk.XattrHeadOf(b).Magic(), ondisk.XattrHeadOf(b).Refcount(), ondisk.XattrHeadOf(b).Blocks()))
	default:
		if at, fault := ondisk.CheckXattrEntries(b, ondisk.XattrHeadLen, true); fault != "" {
			faults = append(faults, checkXattr.at(l.Geo.Addr(block)+uint64(at), "%s", fault))
		}
	}
	return faults
}
