// Package btrfs follows a Btrfs file system through the writes of a guest. It recognizes commits,
// checks the structure of the metadata that they wrote, and turns the difference between two
// commits into change records. A file system may have several devices: the disks of an interp.Set.
// The addresses of the Set are the device addresses of this package.
//
// Start reading at FS.Observe. A write of a superblock passes through onSuperblockWrite → validate
// → classify → judgeCommit → diffTrees. pendingWrite holds what changes once the write has landed.
// overwriteCheck finds writes that overwrite blocks of the last commit. Package ondisk describes
// the format, and package corrupt injects faults on purpose.
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
