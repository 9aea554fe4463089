package ondisk

import "fmt"

// An access list is an extended attribute without a name (fs/ext4/acl.h): a header with a version, and entries of four bytes, or of
// eight where a user or a group is named. e2fsck does not look into it. Linux does not open a file whose list it cannot read
// (ext4_acl_from_disk), nor one whose entries are out of order (posix_acl_permission).
const (
	indexACLAccess  = 2 // EXT4_XATTR_INDEX_POSIX_ACL_ACCESS
	indexACLDefault = 3
	AclVersion      = 1
	AclHeaderLen    = 4
	AclShortLen     = 4 // Tag and permissions
	aclLongLen      = 8 // and an ID
)

// The tags of entries (ACL_USER_OBJ and so on).
const (
	AclUserObj  = 0x01
	AclUser     = 0x02
	AclGroupObj = 0x04
	AclGroup    = 0x08
	AclMask     = 0x10
	AclOther    = 0x20
)

// aclFollows tells which tags may follow one.
var aclFollows = map[uint16]uint16{
	0:           AclUserObj,
	AclUserObj:  AclUser | AclGroupObj,
	AclUser:     AclUser | AclGroupObj,
	AclGroupObj: AclGroup | AclMask | AclOther,
	AclGroup:    AclGroup | AclMask,
	AclMask:     AclOther,
}

// AclFault says what is wrong with an access list, "" if nothing is: what Linux demands of one that is set (posix_acl_valid).
func AclFault(b []byte) string {
	if len(b) == 0 || len(b) == AclHeaderLen && LE32(b, 0) == AclVersion {
		return "" // there is none
	}
	if len(b) < AclHeaderLen || LE32(b, 0) != AclVersion {
		return fmt.Sprintf("an access list of %d bytes does not begin with version %d", len(b), AclVersion)
	}
	last, named := uint16(0), false
	for at := AclHeaderLen; at < len(b); {
		if len(b)-at < AclShortLen {
			return fmt.Sprintf("an access list ends within an entry, at byte %d", at)
		}
		tag, perm := LE16(b, at), LE16(b, at+2)
		next, size := aclFollows[last], AclShortLen
		if named && last == AclGroupObj {
			next &^= AclOther // a mask has to come first
		}
		switch {
		case tag&(tag-1) != 0 || tag&next == 0:
			return fmt.Sprintf("an access list has an entry of tag %#x after one of tag %#x", tag, last)
		case perm > 7:
			return fmt.Sprintf("an access list gives permissions %#o", perm)
		case tag == AclUser || tag == AclGroup:
			named, size = true, aclLongLen
		}
		if len(b)-at < size {
			return fmt.Sprintf("an access list ends within an entry, at byte %d", at)
		}
		last, at = tag, at+size
	}
	if last != AclOther {
		return "an access list does not say what others may do"
	}
	return ""
}
