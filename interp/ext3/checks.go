package ext3

import (
	"fmt"

	"fsward/change"
	"fsward/interp"
)

// A check is a property that Go tests, because rules rely on it or because it concerns a single
// write.
type check struct {
	name string
	kind change.ViolationKind
	doc  string
}

var (
	checkSuperblock = check{"ext3/superblock", change.ByStructure,
		"The superblock is that of a file system that fits its device."}
	checkImmutable = check{"ext3/superblock-geometry", change.ByWrite,
		"The sizes, counts and identity in the superblock do not change" +
			" while the file system is mounted."}
	checkCleanCounts = check{"ext3/clean-counts", change.ByWrite,
		"When a file system is marked clean, its free counts become the sums of those of its groups."}
	checkCleanJournal = check{"ext3/clean-journal", change.ByWrite,
		"When a file system is marked clean, all blocks that its journal committed" +
			" are in their places."}
	checkTail = check{"ext3/journal-tail", change.ByWrite,
		"The journal gives up a transaction only when its blocks are in their places."}
	checkJournalSuper = check{"ext3/journal-superblock", change.ByStructure,
		"The journal's superblock is well formed and points at a transaction."}
	checkJournalChain = check{"ext3/journal-chain", change.ByStructure,
		"A commit block stands at the end of the descriptors of its transaction."}
	checkOverwrite = check{"ext3/journal-overwrite", change.ByWrite,
		"A committed transaction stays in the journal until its blocks are in their places."}
	checkJournalTag = check{"ext3/journal-tag", change.ByStructure,
		"A journaled block belongs inside the file system and outside the journal."}
	checkJournalSum = check{"ext3/journal-checksum", change.ByStructure,
		"Where the journal has checksums, those of a committed transaction fit it."}
	checkHome = check{"ext3/home", change.ByWrite,
		"Metadata goes to its place only as the last commit made it."}
	checkFlushed = check{"ext3/commit-flush", change.ByWrite,
		"A transaction is flushed before its commit block is written."}
	checkData = check{"ext3/data-order", change.ByWrite,
		"With data=ordered, the data of a file is written and flushed before the commit" +
			" that makes it reachable, unless it comes soon after, or the file is cut."}
	checkBaseline = check{"ext3/baseline", change.ByStructure,
		"A file system that is mounted can be read."}
	checkGroup = check{"ext3/group-descriptor", change.ByStructure,
		"The bitmaps and the inode table of a group stay in their places within the group," +
			" and its counts within its size."}
	checkMode = check{"ext3/inode-mode", change.ByStructure,
		"An inode in use has a known file type."}
	checkSize = check{"ext3/inode-size", change.ByStructure,
		"The size of an inode is possible for its type."}
	checkFlags = check{"ext3/inode-flags", change.ByStructure,
		"An inode has no flag of a feature that the file system does not have."}
	checkPointer = check{"ext3/block-pointer", change.ByStructure,
		"A block pointer names a block inside the file system that is not fixed metadata."}
	checkIndirect = check{"ext3/indirect-block", change.ByStructure,
		"An indirect block is written by the transaction that begins to use it, and used once."}
	checkSymlink = check{"ext3/symlink", change.ByStructure,
		"A symbolic link ends where its size says."}
	checkReserved = check{"ext3/reserved-inode", change.ByStructure,
		"The inode of bad blocks has nothing but pointers, and a reserved one without a use has nothing."}
	checkJournalCopy = check{"ext3/journal-backup", change.ByStructure,
		"A write that changes the superblock's copy of the pointers of the journal's inode makes both" +
			" equal."}
	checkDirentLen = check{"ext3/dirent-length", change.ByStructure,
		"Directory entries are aligned, hold their names, and fill their block exactly."}
	checkDirentInode = check{"ext3/dirent-inode", change.ByStructure,
		"A directory entry names an inode number that exists and that entries may name."}
	checkDirentName = check{"ext3/dirent-name", change.ByStructure,
		"A name in a directory has no slash and no zero byte, and occurs once."}
	checkDirentType = check{"ext3/dirent-type", change.ByStructure,
		"The file type in a directory entry is a known one."}
	checkDots = check{"ext3/directory-dots", change.ByStructure,
		"A directory begins with the entries . (itself) and .. and has them nowhere else."}
	checkHtree = check{"ext3/htree", change.ByStructure,
		"The index of a directory is well formed: known hash, count within limit, hashes in order," +
			" blocks inside the directory."}
	checkOrphans = check{"ext3/orphan-list", change.ByStructure,
		"The list of inodes to be deleted or truncated leads to inodes, and ends."}
	checkDeleted = check{"ext3/inode-deleted", change.ByStructure,
		"A deleted inode has the time of its deletion, and not the number of another inode."}
	checkXattr = check{"ext3/xattr-block", change.ByStructure,
		"An extended attribute block has its magic and a reference count," +
			" and its entries lie beside each other with the hashes that fit them;" +
			" access lists can be read."}
	checkInodeXattr = check{"ext3/inode-xattr", change.ByStructure,
		"The part of an inode after its first 128 bytes has the length that the inode states," +
			" and the attributes in it lie beside each other; access lists can be read."}
	checkPadding = check{"ext3/bitmap-padding", change.ByStructure,
		"The bits of a bitmap behind the last block or inode of its group are set."}
)

// checks lists all checks, for tests and documents.
var checks = []check{
	checkSuperblock, checkImmutable, checkCleanCounts, checkCleanJournal, checkTail,
	checkJournalSuper, checkJournalChain, checkOverwrite, checkJournalTag, checkJournalSum,
	checkHome, checkFlushed, checkData,
	checkBaseline, checkGroup, checkMode, checkSize, checkFlags, checkPointer, checkIndirect,
	checkSymlink, checkReserved, checkJournalCopy,
	checkDirentLen, checkDirentInode, checkDirentName, checkDirentType, checkDots, checkHtree,
	checkOrphans, checkDeleted, checkXattr, checkInodeXattr, checkPadding,
}

// Checks describes the checks of each block and of each write that are made before any rule runs.
func Checks() []interp.Check {
	var list []interp.Check
	for _, c := range checks {
		list = append(list, interp.Check{Name: c.name, Doc: c.doc})
	}
	return list
}

// at returns a violation of the check at a device address, bytes.
func (c check) at(addr uint64, format string, args ...any) change.Violation {
	return change.Violation{Rule: c.name, Kind: c.kind, Doc: c.doc, Detail: fmt.Sprintf(format,
		args...), Addr: addr, HasAddr: true}
}

// on adds the object that a violation concerns.
func on(v change.Violation, kind change.Kind, id uint64) change.Violation {
	v.Tree, v.ID = schema.KindName(kind), change.NumText(id)
	return v
}
