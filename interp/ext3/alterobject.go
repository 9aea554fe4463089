package ext3

import (
	"encoding/binary"
	"fmt"
	"strings"

	"fsward/interp"
)

// An alterable is a kind of object that can be altered.
type alterable struct {
	name    string
	members []member
	actions []string
	kinds   []string // what a condition @kind=… tells apart
}

// A member is a number in an object.
type member struct {
	column
	big bool // big-endian, as all of the journal is
	sum bool // a checksum of the journal: it is not made right again
}

func (m member) get(b []byte) uint64 {
	switch {
	case m.big && m.width == 2:
		return uint64(binary.BigEndian.Uint16(b[m.off:]))
	case m.big && m.width == 4:
		return uint64(binary.BigEndian.Uint32(b[m.off:]))
	}
	return m.column.get(b)
}

func (m member) put(b []byte, v uint64) {
	switch {
	case m.big && m.width == 2:
		binary.BigEndian.PutUint16(b[m.off:], uint16(v))
	case m.big && m.width == 4:
		binary.BigEndian.PutUint32(b[m.off:], uint32(v))
	default:
		m.column.put(b, v)
	}
}

// The names of objects.
const (
	objSuper       = "superblock"
	objGroup       = "group"
	objInode       = "inode"
	objPointer     = "pointer"
	objDirent      = "dirent"
	objIndex       = "index"
	objIndexEntry  = "index_entry"
	objLinkName    = "link_name"
	objXattr       = "xattr_block"
	objXattrEntry  = "xattr_entry"
	objBlockBitmap = "block_bitmap"
	objInodeBitmap = "inode_bitmap"
	objJournal     = "journal_superblock"
	objDescriptor  = "journal_descriptor"
	objTag         = "journal_tag"
	objCommit      = "journal_commit"
	objRevoke      = "journal_revoke"
	objRevoked     = "revoke_record"
)

// alterables lists every object in the order of the matrix.
var alterables = []alterable{
	{name: objSuper, members: little(superColumns, superOthers)},
	{name: objGroup, members: little(groupColumns, groupOthers), actions: []string{actSwap}},
	{name: objInode, members: little(inodeColumns, inodeOthers), actions: []string{actClear, actFree, actCopy, actSwap, actCrossLink},
		kinds: []string{"root", "journal", "resize", "reserved", "directory", "indexed", "file", "fast_link", "slow_link", "device", "fifo", "socket", "orphan", "free"}},
	{name: objPointer, members: little([]column{{0, "block", 0, 4}}), actions: []string{actCrossLink, actSwap}, kinds: []string{"single", "double", "triple"}},
	{name: objDirent, members: little(direntColumns, []column{{0, "name", dirHeaderLen, 1}}), actions: []string{actDelete, actDuplicate, actAdd, actSwap, actMove, actCycle},
		kinds: []string{"dot", "dotdot", "root", "linear", "indexed", "unused"}},
	{name: objIndex, members: little(indexColumns), kinds: []string{"root", "node"}},
	{name: objIndexEntry, members: little([]column{{0, "hash", 0, 4}, {0, "block", 4, 4}}), actions: []string{actDelete, actDuplicate, actSwap}, kinds: []string{"root", "node"}},
	{name: objLinkName, members: little([]column{{0, "name", 0, 1}})},
	{name: objXattr, members: little(xattrColumns, xattrOthers)},
	{name: objXattrEntry, members: little(xattrEntryColumns), actions: []string{actDelete, actDuplicate, actSwap}, kinds: []string{"block", "inode"}},
	{name: objBlockBitmap, actions: []string{actSet, actUnset, actSetFreed, actUnsetNew}, kinds: blockUses},
	{name: objInodeBitmap, actions: []string{actSet, actUnset, actSetFreed, actUnsetNew}, kinds: []string{"reserved", "used", "orphan", "free", "padding"}},
	{name: objJournal, members: big(journalColumns)},
	{name: objDescriptor, members: big(journalHeaderColumns)},
	{name: objTag, members: append(big([]column{{0, "blocknr", 0, 4}}), member{column{0, "flags", 6, 2}, true, false}), actions: []string{actSwap, actDuplicate}},
	{name: objCommit, members: append(big(journalHeaderColumns, []column{{0, "commit_sec", 52, 4}}),
		member{column{0, "chksum_type", commitSumType, 1}, true, true}, member{column{0, "chksum_size", commitSumSize, 1}, true, true}, member{column{0, "chksum", commitSum, 4}, true, true})},
	{name: objRevoke, members: big(journalHeaderColumns, []column{{0, "count", journalHeader, 4}})},
	{name: objRevoked, members: big([]column{{0, "blocknr", 0, 4}}), actions: []string{actDelete, actAdd}},
}

func little(tables ...[]column) (list []member) {
	for _, t := range tables {
		for _, c := range t {
			list = append(list, member{column: c})
		}
	}
	return list
}

func big(tables ...[]column) (list []member) {
	for _, t := range tables {
		for _, c := range t {
			list = append(list, member{c, true, c.name == "checksum"})
		}
	}
	return list
}

// What the superblock has that no record tells of; of arrays, the first four bytes.
var superOthers = []column{
	{0, "log_cluster_size", sLogClusterSize, 4}, {0, "clusters_per_group", 36, 4}, {0, "wtime", sWriteTime, 4}, {0, "mnt_count", 52, 2},
	{0, "max_mnt_count", 54, 2}, {0, "errors", 60, 2}, {0, "minor_rev_level", 62, 2}, {0, "lastcheck", 64, 4}, {0, "checkinterval", 68, 4},
	{0, "def_resuid", 80, 2}, {0, "def_resgid", 82, 2}, {0, "block_group_nr", 90, 2}, {0, "uuid", sUUID, 4},
	{0, "volume_name", 120, 4}, {0, "last_mounted", 136, 4}, {0, "algorithm_usage_bitmap", 200, 4}, {0, "prealloc_blocks", 204, 1},
	{0, "prealloc_dir_blocks", 205, 1}, {0, "journal_dev", sJournalDev, 4}, {0, "hash_seed", sHashSeed, 4},
	{0, "def_hash_version", 252, 1}, {0, "default_mount_opts", 256, 4},
	{0, "first_meta_bg", sFirstMetaBG, 4}, {0, "mkfs_time", 264, 4}, {0, "jnl_blocks", 268, 4}, {0, "r_blocks_count_hi", 340, 4},
	{0, "free_blocks_hi", 344, 4}, {0, "journal_uuid", sJournalUUID, 4}, {0, "flags", sFlags, 4}, {0, "raid_stride", 356, 2},
	{0, "mmp_update_interval", 358, 2}, {0, "mmp_block", 360, 4}, {0, "raid_stripe_width", 368, 4}, {0, "checksum_type", 373, 1},
	{0, "encryption_level", 374, 1}, {0, "kbytes_written", 376, 4}, {0, "snapshot_inum", 384, 4}, {0, "snapshot_id", 388, 4}, {0, "snapshot_r_blocks_count", 392, 4},
	{0, "snapshot_list", 400, 4}, {0, "first_error_time", 408, 4}, {0, "first_error_ino", 412, 4}, {0, "first_error_block", 416, 4},
	{0, "first_error_line", 456, 4}, {0, "last_error_time", 460, 4}, {0, "last_error_ino", 464, 4}, {0, "last_error_line", 468, 4}, {0, "last_error_block", 472, 4},
	{0, "mount_opts", 512, 4}, {0, "overhead_clusters", 584, 4}, {0, "backup_bgs", 588, 4},
	{0, "encrypt_algos", 596, 4}, {0, "encrypt_pw_salt", 600, 4}, {0, "lpf_ino", 616, 4}, {0, "checksum_seed", 624, 4},
	{0, "checksum", 1020, 4},
}

var groupOthers = []column{{0, "exclude_bitmap_lo", 20, 4}, {0, "block_bitmap_csum_lo", 24, 2}, {0, "inode_bitmap_csum_lo", 26, 2}, {0, "checksum", 30, 2}}

// The second part, from extra_isize on, is of struct ext2_inode_large.
var inodeOthers = []column{
	{0, "atime", 8, 4}, {0, "ctime", 12, 4}, {0, "mtime", 16, 4}, {0, "version", 36, 4}, {0, "uid_high", iUIDHigh, 2}, {0, "gid_high", iGIDHigh, 2}, {0, "checksum_lo", 124, 2},
	{0, "extra_isize", iExtraSize, 2}, {0, "checksum_hi", 130, 2}, {0, "ctime_extra", 132, 4}, {0, "mtime_extra", 136, 4}, {0, "atime_extra", 140, 4},
	{0, "crtime", 144, 4}, {0, "crtime_extra", 148, 4}, {0, "version_hi", 152, 4}, {0, "projid", 156, 4},
}

// indexColumns are of struct dx_root_info and of dx_countlimit behind it. A node has the last two alone, where it has them:
// see indexTarget.
var indexColumns = []column{
	{0, "reserved_zero", 0, 4}, {0, "hash_version", 4, 1}, {0, "info_length", 5, 1}, {0, "indirect_levels", 6, 1}, {0, "unused_flags", 7, 1},
	{0, "limit", dxInfoLen, 2}, {0, "count", dxInfoLen + 2, 2},
}

var xattrOthers = []column{{0, "magic", 0, 4}, {0, "blocks", xattrBlocks, 4}, {0, "hash", 12, 4}, {0, "checksum", 16, 4}}

// struct ext2_ext_attr_entry, with the first byte of the name.
var xattrEntryColumns = []column{
	{0, "name_len", 0, 1}, {0, "name_index", xattrNameIndex, 1}, {0, "value_offs", xattrValueOff, 2}, {0, "value_inum", xattrValueInum, 4},
	{0, "value_size", xattrValueSize, 4}, {0, "hash", xattrEntryHash, 4}, {0, "name", xattrEntryLen, 1},
}

var journalHeaderColumns = []column{{0, "magic", 0, 4}, {0, "blocktype", 4, 4}, {0, "sequence", 8, 4}}

// struct journal_superblock_s; the sequence of its header is called h_sequence.
var journalColumns = []column{
	{0, "magic", 0, 4}, {0, "blocktype", 4, 4}, {0, "h_sequence", 8, 4}, {0, "blocksize", jBlockSize, 4}, {0, "maxlen", jMaxLen, 4}, {0, "first", jFirst, 4},
	{0, "sequence", jSequence, 4}, {0, "start", jStart, 4}, {0, "errno", 32, 4}, {0, "feature_compat", jCompat, 4}, {0, "feature_incompat", jIncompat, 4},
	{0, "feature_ro_compat", jROCompat, 4}, {0, "uuid", jUUID, 4}, {0, "nr_users", jNrUsers, 4}, {0, "dynsuper", 68, 4}, {0, "max_transaction", 72, 4},
	{0, "max_trans_data", 76, 4}, {0, "checksum_type", jSumType, 1}, {0, "checksum", jSum, 4}, {0, "users", 256, 4},
}

// blockUses are the kinds of blocks that a block bitmap has bits of. padding is what follows the last block.
var blockUses = []string{"superblock", "descriptors", "bitmap", "inode_table", "journal", "resize", "directory", "indirect", "xattr", "data", "free", "padding"}

func findAlterable(name string) *alterable {
	for i := range alterables {
		if alterables[i].name == name {
			return &alterables[i]
		}
	}
	return nil
}

func (a *alterable) fieldNames() (names []string) {
	for _, m := range a.members {
		names = append(names, m.name)
	}
	return names
}

// Alterables lists what alterations can speak of.
func Alterables() (list []interp.Alterable) {
	for i := range alterables {
		a := &alterables[i]
		out := interp.Alterable{Object: a.name, Actions: a.actions, Kinds: a.kinds}
		for _, m := range a.members {
			out.Fields = append(out.Fields, interp.AlterableField{Name: m.name, Width: m.width})
		}
		list = append(list, out)
	}
	return list
}

// known lists every object with its fields and actions, for error messages.
func known() string {
	var all []string
	for i := range alterables {
		a := &alterables[i]
		for _, f := range a.fieldNames() {
			all = append(all, a.name+"."+f)
		}
		for _, act := range a.actions {
			all = append(all, fmt.Sprintf("%s!%s", a.name, act))
		}
	}
	return strings.Join(all, ", ")
}
