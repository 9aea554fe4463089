package ondisk

// InodeLayout is an inode. Only the corrupter uses it: several fields of the records are parts of a
// member, or span two.
var InodeLayout = Structure{"ext2_inode", 128, []Field{
	le16("mode", 0, fieldMode),
	le16("uid", 2, FieldUID),
	le32("size", 4, FieldSize),
	le32("dtime", 20, FieldDtime),
	le16("gid", 24, FieldGID),
	le16("links_count", 26, FieldLinks),
	le32("blocks", 28, FieldBlocks),
	le32("flags", 32, fieldFlags),
	le32("block0", 40),
	le32("block1", 44),
	le32("block2", 48),
	le32("block3", 52),
	le32("block4", 56),
	le32("block5", 60),
	le32("block6", 64),
	le32("block7", 68),
	le32("block8", 72),
	le32("block9", 76),
	le32("block10", 80),
	le32("block11", 84),
	le32("block12", 88),
	le32("block13", 92),
	le32("block14", 96),
	le32("generation", 100, FieldGeneration),
	le32("file_acl", 104, FieldFileACL),
	le32("size_high", 108, FieldSizeHigh),
	le32("faddr", 112, FieldFaddr),
	le16("blocks_high", 116, FieldBlocksHigh),
	le16("file_acl_high", 118, FieldFileACLHigh),
	le32("atime", 8, FieldAtime),
	le32("ctime", 12, FieldCtime),
	le32("mtime", 16, FieldMtime),
	le32("version", 36),
	le16("uid_high", 120),
	le16("gid_high", 122),
	le16("checksum_lo", 124),
}}

// InodeLargeLayout has the members of an inode after its first 128 bytes.
var InodeLargeLayout = Structure{"ext2_inode_large", 160, []Field{
	le16("extra_isize", 128),
	le16("checksum_hi", 130),
	le32("ctime_extra", 132),
	le32("mtime_extra", 136),
	le32("atime_extra", 140),
	le32("crtime", 144),
	le32("crtime_extra", 148),
	le32("version_hi", 152),
	le32("projid", 156),
}}

// DirentLayout is a directory entry. Without the feature filetype, file_type has no meaning. name
// is the first byte of the name.
var DirentLayout = Structure{"ext2_dir_entry_2", 8, []Field{
	le32("inode", 0, FieldInode),
	le16("rec_len", 4),
	u8("name_len", 6),
	u8("file_type", 7, FieldFileType),
	u8("name", 8),
}}

// IndexLayout is struct dx_root_info followed by struct dx_countlimit. A node has only the last two
// members.
var IndexLayout = Structure{"dx_root_info", 12, []Field{
	le32("reserved_zero", 0),
	u8("hash_version", 4),
	u8("info_length", 5),
	u8("indirect_levels", 6),
	u8("unused_flags", 7),
	le16("limit", 8),
	le16("count", 10),
}}

// IndexEntryLayout is an entry of an index.
var IndexEntryLayout = Structure{"dx_entry", 8, []Field{
	le32("hash", 0),
	le32("block", 4),
}}

// PointerLayout is the number of a block in an indirect block.
var PointerLayout = Structure{"__le32", 4, []Field{
	le32("block", 0),
}}

// LinkNameLayout is the target of a symbolic link with a block of its own.
var LinkNameLayout = Structure{"char", 1, []Field{
	u8("name", 0),
}}

// XattrLayout is the head of an extended attribute block.
var XattrLayout = Structure{"ext2_ext_attr_header", 32, []Field{
	le32("refcount", 4, FieldRefcount),
	le32("magic", 0),
	le32("blocks", 8),
	le32("hash", 12),
	le32("checksum", 16),
}}

// XattrEntryLayout is an extended attribute. name is the first byte of the name.
var XattrEntryLayout = Structure{"ext2_ext_attr_entry", 16, []Field{
	u8("name_len", 0),
	u8("name_index", 1),
	le16("value_offs", 2),
	le32("value_inum", 4),
	le32("value_size", 8),
	le32("hash", 12),
	u8("name", 16),
}}

// ACLLayout is the head of an access list (fs/ext4/acl.h).
var ACLLayout = Structure{"ext4_acl_header", 4, []Field{
	le32("version", 0),
}}

// ACLEntryLayout is an entry of an access list. The id of a user or group follows if the tag names
// one.
var ACLEntryLayout = Structure{"ext4_acl_entry", 4, []Field{
	le16("tag", 0),
	le16("perm", 2),
}}
