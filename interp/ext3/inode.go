package ext3

import (
	"bytes"

	"fsward/change"
	"fsward/interp/ext3/ondisk"
)

// inodeValue returns a field of an inode that exists, or Null if the inode does not have the field.
func (l *Layout) inodeValue(ino uint32, i ondisk.Inode, marked bool, f change.Field) change.Value {
	flag := func(mask uint32) change.Value { return change.Bit(i.Flags()&mask != 0) }
	switch f {
	case ondisk.FieldType:
		return ondisk.TypeWord(ondisk.EntryType(i.Mode()))
	case ondisk.FieldPerm:
		return change.Num(uint64(i.Mode() &^ ondisk.ModeType))
	case ondisk.FieldUID:
		return change.Num(i.UID())
	case ondisk.FieldGID:
		return change.Num(i.GID())
	case ondisk.FieldSize:
		return change.Num(i.Size())
	case ondisk.FieldLinks:
		return change.Num(uint64(i.Links()))
	case ondisk.FieldBlocks:
		return change.Num(uint64(i.Blocks()))
	case ondisk.FieldFlagImmutable:
		return flag(ondisk.FlagImmutable)
	case ondisk.FieldFlagAppend:
		return flag(ondisk.FlagAppend)
	case ondisk.FieldFlagIndex:
		return flag(ondisk.FlagIndex)
	case ondisk.FieldFlagJournal:
		return flag(ondisk.FlagJournal)
	case ondisk.FieldFlagOther:
		return change.Num(uint64(i.Flags() &^ ondisk.FlagsNamed))
	case ondisk.FieldFileACL:
		return change.Num(uint64(i.FileACL()))
	case ondisk.FieldGeneration:
		return change.Num(uint64(i.Generation()))
	case ondisk.FieldDtime:
		return change.Num(uint64(i.Dtime()))
	case ondisk.FieldAtime:
		return change.Num(uint64(i.Atime()))
	case ondisk.FieldCtime:
		return change.Num(uint64(i.Ctime()))
	case ondisk.FieldMtime:
		return change.Num(uint64(i.Mtime()))
	case ondisk.FieldFaddr:
		return change.Num(uint64(i.Faddr()))
	case ondisk.FieldBlocksHigh:
		return change.Num(uint64(i.BlocksHigh()))
	case ondisk.FieldFileACLHigh:
		return change.Num(uint64(i.FileACLHigh()))
	case ondisk.FieldSizeHigh:
		if i.Type() != ondisk.ModeRegular {
			return change.Num(uint64(i.SizeHigh()))
		}
	case ondisk.FieldDirGroup:
		if marked && i.IsDir() {
			return change.Num(uint64((ino - 1) / l.Geo.InodesPerGroup))
		}
	}
	return change.Value{}
}

// checkInode checks an inode by itself, without following its pointers.
func (l *Layout) checkInode(ino uint32, i ondisk.Inode, marked bool) (faults []change.Violation) {
	fault := func(c check, format string, args ...any) {
		faults = append(faults, on(c.at(l.inodeAddr(ino), format, args...), ondisk.KindInode,
			uint64(ino)))
	}
	reserved := ino < l.Geo.FirstIno && ino != ondisk.RootIno
	switch {
	case ino == ondisk.BadIno && (i.Mode() != 0 || i.UID()|i.GID() != 0 || i.Links() != 0 ||
		i.Flags() != 0 || i.FileACL() != 0 || i.Dtime() != 0):
		fault(checkReserved, "the inode of bad blocks has mode %#o, user %d, group %d, %d links,"+
			" flags %#x, file_acl %d, dtime %d",
			i.Mode(), i.UID(), i.GID(), i.Links(), i.Flags(), i.FileACL(), i.Dtime())
	case reserved && ino != ondisk.BadIno && !i.Exists(marked) && i.HoldsSomething():
		fault(checkReserved, "inode %d has no use, and has size %d, high size %d, %d blocks,"+
			" flags %#x, file_acl %d and pointers %d",
			ino, i.Size(), i.SizeHigh(), i.Blocks(), i.Flags(), i.FileACL(), i.Pointers())
	}
	if !i.Exists(marked) {
		return faults
	}
	if ondisk.EntryType(i.Mode()) == 0 && !reserved {
		fault(checkMode, "mode is %#o", i.Mode())
	}
	if f := i.Flags() & ondisk.FlagsForeign; f != 0 {
		fault(checkFlags, "flags are %#x", i.Flags())
	}
	bs := uint64(l.Geo.BlockSize)
	switch {
	case i.ListsNames() && (i.Size() == 0 || i.Size()%bs != 0 || i.Size() > uint64(l.Geo.Blocks)*bs):
		fault(checkSize, "the size of a directory is %d, want a multiple of %d", i.Size(), bs)
	case i.Type() == ondisk.ModeLink && i.Links() > 0 && (i.Size() == 0 || i.Size() >= bs):
		fault(checkSize, "the size of a symbolic link is %d, want 1 to %d", i.Size(), bs-1)
	case i.Type() == ondisk.ModeRegular && i.Size() > l.Geo.MaxFile():
		fault(checkSize, "the size of a file is %d, its pointers reach %d", i.Size(), l.Geo.MaxFile())
	}
	if i.Fast() && i.Links() > 0 {
		if n := bytes.IndexByte(i[ondisk.InodeBlock0At:ondisk.InodeBlock0At+ondisk.FastLink],
			0); uint64(n) != i.Size() {
			fault(checkSymlink, "size is %d, the name ends after %d bytes", i.Size(), n)
		}
	}
	if i.Type() == ondisk.ModeLink && !i.Fast() && i.Links() > 0 {
		for n := range ondisk.NPointers {
			if (i.Pointer(n) != 0) != (n == 0) {
				fault(checkSymlink, "size is %d, pointer %d is %d", i.Size(), n, i.Pointer(n))
				break
			}
		}
	}
	if acl := i.FileACL(); acl != 0 && (!l.Geo.InRange(acl) || l.FixedMeta(acl)) {
		fault(checkPointer, "file_acl is %d", acl)
	}
	return faults
}
