// Package ondisk is the on-disk format of Btrfs and nothing else: structures, fields, key types, kinds of
// objects, checksums and hashes. It judges nothing.
//
// The tables of fields (table_*.go) drive decoding, differencing, the corrupter and the schema of change
// records. They are the one place where the offset of a member stands. The views in views_*.go, which
// read members by name, are generated from the tables; a test holds them against the tables, and the
// tables against the offsets of linux/btrfs_tree.h.
//
// Names are those of linux/btrfs_tree.h. Start reading at structure.go.
package ondisk
