package ondisk

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
)

// struct ext2_ext_attr_entry.
const (
	XattrMagic = 0xea020000

	xattrNameShift  = 5
	xattrValueShift = 16

	MinExtraSize  = 4 // i_extra_isize and i_checksum_hi
	XattrBodyHead = 4 // the magic in front of the entries in an inode
)

// A span is a range of bytes in a block or inode.
type span struct{ lo, hi int }

// CheckXattrEntries checks a list of extended attributes. The offsets of values count from the
// beginning of b, and the entries begin at first. hashed means that every entry has a hash;
// otherwise a hash of 0 means none. It returns the place and the description of a fault, or "". The
// checks are those of e2fsck in check_ext_attr and check_ea_in_inode, and those of Linux on names
// and access lists.
func CheckXattrEntries(b []byte, first int, hashed bool) (at int, fault string) {
	var used []span
	if first > 0 {
		used = append(used, span{0, first})
	}
	off := first
	for off+4 <= len(b) && LE32(b, off) != 0 {
		if len(b)-off < XattrEntryLen {
			return off, "an entry goes beyond the end"
		}
		e := XattrEntryOf(b[off:])
		nameLen, index, valueOff, size := int(e.NameLen()), e.NameIndex(), int(e.ValueOffs()),
			e.ValueSize()
		end := off + XattrEntryLen + (nameLen+3)&^3
		switch {
		case end > len(b):
			return off, fmt.Sprintf("a name of %d bytes goes beyond the end", nameLen)
		// ext4_xattr_check_entries; e2fsck does not ask
		case bytes.IndexByte(b[off+XattrEntryLen:off+XattrEntryLen+nameLen], 0) >= 0:
			return off, "the name has a zero byte in it"
		case hashed && index == 0:
			return off, "the name has no index"
		case e.ValueInum() != 0:
			return off, fmt.Sprintf("the value is in inode %d", e.ValueInum())
		case uint64(valueOff)+uint64(size) > uint64(len(b)):
			return off, fmt.Sprintf("the value, %d bytes at %d, goes beyond the end", size, valueOff)
		}
		used = append(used, span{off, end})
		if size > 0 {
			used = append(used, span{valueOff, valueOff + (int(size)+3)&^3})
		}
		if have := e.Hash(); hashed || have != 0 {
			name, value := b[off+XattrEntryLen:off+XattrEntryLen+nameLen], b[valueOff:valueOff+int(size)]
			if have != xattrHash(name, value, false) && have != xattrHash(name, value, true) {
				return off, fmt.Sprintf("the hash %#x does not fit the name and the value", have)
			}
		}
		if nameLen == 0 && (index == indexACLAccess || index == indexACLDefault) {
			if fault := ACLFault(b[valueOff : valueOff+int(size)]); fault != "" {
				return off, fault
			}
		}
		off = end
	}
	if off+4 <= len(b) {
		used = append(used, span{off, off + 4}) // end of the list
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

// xattrHash is ext4_xattr_hash_entry. Linux before 6.2 takes the bytes of a name as signed, later
// versions do not, and each reads the hashes of the other.
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
		hash = hash<<xattrValueShift ^ hash>>(32-xattrValueShift) ^ LE32(word[:], 0)
	}
	return hash
}
