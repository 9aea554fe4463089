package ext3

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"fsward/change"
)

// struct ext2_ext_attr_entry.
const (
	xattrEntryLen   = 16 // before the name
	xattrNameIndex  = 1
	xattrValueOff   = 2
	xattrValueInum  = 4
	xattrValueSize  = 8
	xattrEntryHash  = 12
	xattrNameShift  = 5
	xattrValueShift = 16

	iExtraSize    = 128 // i_extra_isize, 2 bytes, where inodes are larger than 128 bytes
	minExtraSize  = 4   // i_extra_isize and i_checksum_hi
	xattrBodyHead = 4   // the magic in front of the entries in an inode
)

// A span is a range of bytes in a block or inode.
type span struct{ lo, hi int }

// checkXattrEntries checks a list of extended attributes: b begins where the offsets of values count from, the
// entries begin at first. hashed: every entry has its hash (else 0 says that it has none). It returns where a
// fault is and what, "" if there is none. The checks are e2fsck's in check_ext_attr and check_ea_in_inode, and Linux's of
// names and access lists.
func checkXattrEntries(b []byte, first int, hashed bool) (at int, fault string) {
	var used []span
	if first > 0 {
		used = append(used, span{0, first})
	}
	off := first
	for off+4 <= len(b) && le32(b, off) != 0 {
		if len(b)-off < xattrEntryLen {
			return off, "an entry goes beyond the end"
		}
		nameLen, index, valueOff, size := int(b[off]), b[off+xattrNameIndex], int(le16(b, off+xattrValueOff)), le32(b, off+xattrValueSize)
		end := off + xattrEntryLen + (nameLen+3)&^3
		switch {
		case end > len(b):
			return off, fmt.Sprintf("a name of %d bytes goes beyond the end", nameLen)
		case bytes.IndexByte(b[off+xattrEntryLen:off+xattrEntryLen+nameLen], 0) >= 0: // ext4_xattr_check_entries; e2fsck does not ask
			return off, "the name has a zero byte in it"
		case hashed && index == 0:
			return off, "the name has no index"
		case le32(b, off+xattrValueInum) != 0:
			return off, fmt.Sprintf("the value is in inode %d", le32(b, off+xattrValueInum))
		case uint64(valueOff)+uint64(size) > uint64(len(b)):
			return off, fmt.Sprintf("the value, %d bytes at %d, goes beyond the end", size, valueOff)
		}
		used = append(used, span{off, end})
		if size > 0 {
			used = append(used, span{valueOff, valueOff + (int(size)+3)&^3})
		}
		if have := le32(b, off+xattrEntryHash); hashed || have != 0 {
			name, value := b[off+xattrEntryLen:off+xattrEntryLen+nameLen], b[valueOff:valueOff+int(size)]
			if have != xattrHash(name, value, false) && have != xattrHash(name, value, true) {
				return off, fmt.Sprintf("the hash %#x does not fit the name and the value", have)
			}
		}
		if nameLen == 0 && (index == indexACLAccess || index == indexACLDefault) {
			if fault := aclFault(b[valueOff : valueOff+int(size)]); fault != "" {
				return off, fault
			}
		}
		off = end
	}
	if off+4 <= len(b) {
		used = append(used, span{off, off + 4}) // the end of the list
	}
	slices.SortFunc(used, func(x, y span) int { return cmp.Compare(x.lo, y.lo) })
	if len(used) > 0 && used[len(used)-1].hi > len(b) {
		return used[len(used)-1].lo, "a value is not aligned, and goes beyond the end"
	}
	for i := 1; i < len(used); i++ {
		if used[i].lo < used[i-1].hi {
			return used[i].lo, "entries and values overlap"
		}
	}
	return 0, ""
}

// xattrHash is ext4_xattr_hash_entry: Linux before 6.2 took the bytes of a name as signed, later ones do not,
// and both read what the other wrote.
func xattrHash(name, value []byte, signed bool) uint32 {
	hash := uint32(0)
	for _, c := range name {
		add := uint32(c)
		if signed {
			add = uint32(int32(int8(c)))
		}
		hash = hash<<xattrNameShift ^ hash>>(32-xattrNameShift) ^ add
	}
	for len(value) > 0 {
		var word [4]byte
		n := copy(word[:], value)
		value = value[n:]
		hash = hash<<xattrValueShift ^ hash>>(32-xattrValueShift) ^ le32(word[:], 0)
	}
	return hash
}

// checkXattrBlock checks the contents of an extended attribute block.
func (l *layout) checkXattrBlock(block uint32, b []byte) (faults []change.Violation) {
	switch {
	case le32(b, 0) != xattrMagic || le32(b, xattrRefcount) == 0 || le32(b, xattrBlocks) != 1:
		return append(faults, checkXattr.at(l.geo.addr(block), "magic %#x, %d references, %d blocks", le32(b, 0), le32(b, xattrRefcount), le32(b, xattrBlocks)))
	default:
		if at, fault := checkXattrEntries(b, xattrHeader, true); fault != "" {
			faults = append(faults, checkXattr.at(l.geo.addr(block)+uint64(at), "%s", fault))
		}
	}
	return faults
}

// body checks what an inode has beyond its first 128 bytes: how much of it are fields, and the extended
// attributes in the rest.
func (d *delta) body(ino uint32) error {
	_, after, err := d.sides(ino)
	if err != nil || !after.exists() {
		return err
	}
	block, off := d.inodePlace(ino)
	b, err := d.new.block(block)
	if err != nil {
		return err
	}
	raw := b[off : off+d.geo.inodeSize]
	fault := func(at int, format string, args ...any) {
		d.fault(on(checkInodeXattr.at(d.inodeAddr(ino)+uint64(at), format, args...), kindInode, uint64(ino)))
	}
	extra := int(le16(raw, iExtraSize))
	switch {
	case extra == 0:
		return nil // an inode of a kernel that does not use the room
	case extra < minExtraSize || extra%4 != 0 || extra > len(raw)-inodeLen:
		fault(iExtraSize, "i_extra_isize is %d, want a multiple of 4 from %d to %d", extra, minExtraSize, len(raw)-inodeLen)
		return nil
	}
	head := inodeLen + extra
	if len(raw)-head < 2*xattrBodyHead || le32(raw, head) != xattrMagic {
		return nil
	}
	first := head + xattrBodyHead
	if at, what := checkXattrEntries(raw[first:], 0, false); what != "" {
		fault(first+at, "%s", what)
	}
	return nil
}
