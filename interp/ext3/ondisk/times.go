package ondisk

// ClearSuperTimes clears the members of a superblock that depend on when and how often it was
// written: the times of the last mount and write, and the number of KiB written.
func ClearSuperTimes(sb []byte) {
	clear(sb[SuperMtimeAt : SuperMtimeAt+4])
	clear(sb[SuperWtimeAt : SuperWtimeAt+4])
	clear(sb[SuperKbytesWrittenAt : SuperKbytesWrittenAt+8])
}

// inodeExtra are the offsets in a large inode from ctime_extra to crtime_extra.
const inodeExtra, inodeExtraEnd = InodeLargeExtraIsizeAt + 4, InodeLargeExtraIsizeAt + 24

// ClearTimes clears the times of an inode, and its generation, which is a random number. i is the
// whole inode, and inodes the number of inodes of the file system. It keeps a time of deletion of
// at most inodes: the list of orphans uses that field for the number of the next inode.
func ClearTimes(i []byte, inodes uint32) {
	for _, at := range []int{InodeAtimeAt, InodeCtimeAt, InodeMtimeAt, InodeGenerationAt} {
		clear(i[at : at+4])
	}
	if Inode(i).Dtime() > inodes {
		clear(i[InodeDtimeAt : InodeDtimeAt+4])
	}
	if len(i) < inodeExtraEnd {
		return
	}
	end := InodeLen + int(LE16(i, InodeLargeExtraIsizeAt))
	if end = min(end, inodeExtraEnd); end > inodeExtra {
		clear(i[inodeExtra:end])
	}
}
