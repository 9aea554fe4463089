package ondisk

import "fmt"

// An access list is an extended attribute without a name (fs/ext4/acl.h): a header with a version,
// and entries of four bytes, or of eight bytes if they name a user or a group. e2fsck does not read
// access lists. Linux does not open a file whose list it cannot read (ext4_acl_from_disk) or whose
// entries are out of order (posix_acl_permission).
const (
	indexACLAccess  = 2 // EXT4_XATTR_INDEX_POSIX_ACL_ACCESS
	indexACLDefault = 3
	ACLVersion      = 1
	aclLongLen      = 8 // an entry with an ID
)

// The tags of entries (ACL_USER_OBJ and so on).
const (
	ACLUserObj  = 0x01
	ACLUser     = 0x02
	ACLGroupObj = 0x04
	ACLGroup    = 0x08
	ACLMask     = 0x10
	ACLOther    = 0x20
)

// aclFollows lists the tags that may follow a tag.
var aclFollows = map[uint16]uint16{
	0:           ACLUserObj,
	ACLUserObj:  ACLUser | ACLGroupObj,
	ACLUser:     ACLUser | ACLGroupObj,
	ACLGroupObj: ACLGroup | ACLMask | ACLOther,
	ACLGroup:    ACLGroup | ACLMask,
	ACLMask:     ACLOther,
}

// ACLFault describes the first fault of an access list, or returns "". Linux demands the same of a
// list that is set (posix_acl_valid).
func ACLFault(b []byte) string {
	if len(b) == 0 || len(b) == ACLHeadLen && aclHeadOf(b).Version() == ACLVersion {
		return "" // there is none
	}
	if len(b) < ACLHeadLen || aclHeadOf(b).Version() != ACLVersion {
		return fmt.Sprintf("an access list of %d bytes does not begin with version %d", len(b),
			ACLVersion)
	}
	last, named := uint16(0), false
	for at := ACLHeadLen; at < len(b); {
		if len(b)-at < ACLEntryLen {
			return fmt.Sprintf("an access list ends within an entry, at byte %d", at)
		}
		entry := aclEntryOf(b[at:])
		tag, perm := entry.Tag(), entry.Perm()
		next, size := aclFollows[last], ACLEntryLen
		if named && last == ACLGroupObj {
			next &^= ACLOther // a mask must come first
		}
		switch {
		case tag&(tag-1) != 0 || tag&next == 0:
			return fmt.Sprintf("an access list has an entry of tag %#x after one of tag %#x", tag, last)
		case perm > 7:
			return fmt.Sprintf("an access list gives permissions %#o", perm)
		case tag == ACLUser || tag == ACLGroup:
			named, size = true, aclLongLen
		}
		if len(b)-at < size {
			return fmt.Sprintf("an access list ends within an entry, at byte %d", at)
		}
		last, at = tag, at+size
	}
	if last != ACLOther {
		return "an access list does not say what others may do"
	}
	return ""
}
