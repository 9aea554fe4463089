package ondisk

import (
	"fmt"

	"fsward/interp"
)

// roMetadataCsum is the number of the flag of metadata_csum.
const roMetadataCsum = 10

// Prepared names the feature that a tool prepares with a new content of a block, or returns nil:
// metadata_csum, for which tune2fs makes room for checksums in directories (rewrite_directory in
// misc/tune2fs.c) before it writes the superblock. read returns the present content; it is not
// called for a block that prepares nothing.
func Prepared(b []byte, read func() ([]byte, error)) (*interp.UnsupportedError, error) {
	if !hasChecksumTail(b) && indexRoom(b) != 1 {
		return nil, nil
	}
	before, err := read()
	if err != nil {
		return nil, fmt.Errorf("the block as it was: %w", err)
	}
	// An entry at the end of a directory block, or one in the room of an index, has the checksum.
	if isLeaf(before) && hasChecksumTail(b) || indexRoom(before) == 0 && indexRoom(b) == 1 {
		return unsupportedFlag("ro_compat", roMetadataCsum), nil
	}
	return nil, nil
}

// hasChecksumTail reports whether a block ends with the empty entry that keeps a checksum, struct
// ext2_dir_entry_tail.
func hasChecksumTail(b []byte) bool {
	const typeChecksum = 0xde // EXT2_DIR_NAME_LEN_CSUM
	tail := len(b) - DotLen
	head := DirentHeadOf(b[tail:])
	return head.Inode() == 0 && head.RecLen() == DotLen && head.NameLen() == 0 &&
		head.FileType() == typeChecksum
}

// isLeaf reports whether a block has entries of a directory up to its end, and no checksum.
func isLeaf(b []byte) bool {
	_, fault := Entries(b, true, func(Entry) {})
	return fault == "" && !hasChecksumTail(b)
}

// indexRoom returns how many entries fit behind the limit of a block of an index; -1 if it is none.
func indexRoom(b []byte) int {
	var at int // of the entries
	switch head := IndexHeadOf(b[IndexRootInfo:]); {
	case RecLen(b, 0) == len(b) && DirentHeadOf(b).Inode() == 0:
		at = IndexNodeEntries
	case RecLen(b, 0) == DotLen && RecLen(b, DotLen) == len(b)-DotLen &&
		head.InfoLength() == IndexInfoLen && head.HashVersion() < HashVersions:
		at = IndexRootEntries
	default:
		return -1
	}
	head := IndexHeadOf(b[at-IndexInfoLen:])
	if head.Count() == 0 || head.Count() > head.Limit() {
		return -1
	}
	return (len(b)-at)/IndexEntryLen - int(head.Limit())
}
