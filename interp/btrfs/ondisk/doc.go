// Package ondisk describes the on-disk format of Btrfs: structures, fields, key types, kinds of
// objects, checksums and hashes. It checks nothing beyond the bounds of bytes.
//
// The tables of fields (table_*.go) drive decoding, differencing, the corrupter and the schema of
// change records. Each offset of a member stands there and nowhere else. The views in views_*.go
// read members by name and are generated from the tables. Tests compare the views with the tables,
// and the tables with the offsets in linux/btrfs_tree.h.
//
// Names are those of linux/btrfs_tree.h. Start reading at structure.go.
package ondisk
