// Package ondisk holds the on-disk format of ext3 and of its journal (jbd2), and nothing else: the
// structures and their fields, checksums, hashes of names, and the kinds and fields by which rules
// call them. It reads bytes from its callers, has no device and keeps no state.
//
// Start with fields.go: one table of fields for each structure drives the change records, the views
// of rules and the corrupter. A test compares the tables with the headers of e2fsprogs. The formats
// are those of the kernel's fs/ext4/ext4.h and include/linux/jbd2.h.
package ondisk
