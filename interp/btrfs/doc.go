// Package btrfs follows a Btrfs file system from below: it recognizes commits among the writes of a
// guest, checks the structure of what they wrote, and turns the difference between two commits into
// change records. A file system may have several devices: they are then the disks of an interp.Set,
// whose addresses are the device addresses of this package.
//
// Start reading at FS.Observe. A write of a superblock takes the way onSuperblockWrite → validate →
// classify → judgeCommit → diffTrees, and pendingWrite says what changes when the write lands.
// Metadata that overwrites the last commit is the business of overwriteCheck. Package ondisk below has
// the format, package corrupt the faults that are made on purpose.
//
// Names are those of the kernel's linux/btrfs_tree.h and fs/btrfs. Where code follows a kernel
// function, the comment names it.
package btrfs

import (
	"fsward/change"
	"fsward/interp/btrfs/ondisk"
)

// Schema declares the objects and fields in the records of Btrfs.
func Schema() *change.Schema { return ondisk.Schema }
