package model

import "encoding/binary"

// The names of the extended attributes that hold the access control list of a file, and that which
// a directory gives to new files in it, and the name of the namespace of users.
const (
	aclName        = "system.posix_acl_access"
	defaultACLName = "system.posix_acl_default"
	userPrefix     = "user."
)

// isACL reports whether an extended attribute holds an access control list.
func isACL(name string) bool { return name == aclName || name == defaultACLName }

// noParent stands for the directory of a new inode that inherits nothing. Whiteouts are such inodes
// here: XFS gives them no list (xfs_rename_alloc_whiteout), and ext4 does.
const noParent = 0

// inherited returns the attributes of a new inode in a directory with the attributes a
// (posix_acl_create): its mode is the one that was asked for, within the directory's default list.
func (a attrs) inherited(k Kind, mode uint32) attrs {
	list := accessList(a.xattrs[defaultACLName])
	if k == Symbolic || !list.valid() {
		return attrs{mode: mode}
	}
	mode &= list.mode()
	x := map[string]string{aclName: string(list.withMode(mode))}
	if k == Dir {
		x[defaultACLName] = string(list)
	}
	return attrs{mode: mode, xattrs: x}
}

// aclTags are the tags of entries of an access control list (linux/posix_acl.h), in the kernel's
// order.
var aclTags = [...]uint16{1, 2, 4, 0x10, 0x20} // owner, a user, group, mask, others

// aclSize is the size of an access control list with one entry of each tag, in bytes: a header, and
// a tag, permissions and an identity for each entry.
const aclSize = 4 + 8*len(aclTags)

// AccessList returns the value of an extended attribute with an access control list: that of mode,
// whose group bits are the mask, with the permissions rwx of one more user.
func AccessList(mode, uid, rwx uint32) string {
	permissions := [...]uint32{mode >> 6, rwx, mode >> 3, mode >> 3, mode}
	b := binary.LittleEndian.AppendUint32(nil, 2) // POSIX_ACL_XATTR_VERSION
	for i, tag := range aclTags {
		id := ^uint32(0)
		if tag == 2 {
			id = uid
		}
		b = binary.LittleEndian.AppendUint16(b, tag)
		b = binary.LittleEndian.AppendUint16(b, uint16(permissions[i]&7))
		b = binary.LittleEndian.AppendUint32(b, id)
	}
	return string(b)
}

// An accessList is the value of AccessList.
type accessList []byte

func (l accessList) permission(entry int) uint32 {
	return uint32(binary.LittleEndian.Uint16(l[4+8*entry+2:]))
}

// valid reports whether a value has the layout of AccessList. The model knows no other.
func (l accessList) valid() bool {
	if len(l) != aclSize {
		return false
	}
	for i, tag := range aclTags {
		if binary.LittleEndian.Uint16(l[4+8*i:]) != tag {
			return false
		}
	}
	return true
}

// mode returns the mode that the list gives to its file (posix_acl_equiv_mode).
func (l accessList) mode() uint32 {
	return l.permission(0)<<6 | l.permission(3)<<3 | l.permission(4)
}

// withMode returns the list after chmod(2) (__posix_acl_chmod_masq).
func (l accessList) withMode(mode uint32) accessList {
	out := append(accessList(nil), l...)
	for entry, shift := range map[int]int{0: 6, 3: 3, 4: 0} {
		binary.LittleEndian.PutUint16(out[4+8*entry+2:], uint16(mode>>shift&7))
	}
	return out
}
