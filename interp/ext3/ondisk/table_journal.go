package ondisk

// The structures of the journal (include/linux/jbd2.h) are big-endian throughout.

// JournalHeaderLayout is the header of each block of the log that is not a copy.
var JournalHeaderLayout = Structure{"journal_header_s", 12, []Field{
	be32("magic", 0),
	be32("blocktype", 4),
	be32("sequence", 8),
}}

// JournalSuperLayout is the journal's superblock. h_sequence is the sequence of its header.
var JournalSuperLayout = Structure{"journal_superblock_s", 1024, []Field{
	be32("magic", 0),
	be32("blocktype", 4),
	be32("h_sequence", 8),
	be32("blocksize", 12),
	be32("maxlen", 16),
	be32("first", 20),
	be32("sequence", 24),
	be32("start", 28),
	be32("errno", 32),
	be32("feature_compat", 36),
	be32("feature_incompat", 40),
	be32("feature_ro_compat", 44),
	array(be32("uuid", 48), 16),
	be32("nr_users", 64),
	be32("dynsuper", 68),
	be32("max_transaction", 72),
	be32("max_trans_data", 76),
	u8("checksum_type", 80),
	be32("checksum", 252),
	be32("users", 256),
}}

// TagLayout is the common part of the tags of all versions in a descriptor.
var TagLayout = Structure{"journal_block_tag_s", 8, []Field{
	be32("blocknr", 0),
	be16("flags", 6),
}}

// TagSumLayout is the checksum of a tag of version 2.
var TagSumLayout = Structure{"journal_block_tag_s", 6, []Field{
	be16("checksum", 4),
}}

// Tag64Layout is the additional part of a tag with a block number of 64 bits.
var Tag64Layout = Structure{"journal_block_tag_s", 12, []Field{
	be32("blocknr_high", 8),
}}

// Tag3Layout is a tag of version 3.
var Tag3Layout = Structure{"journal_block_tag3_s", 16, []Field{
	be32("blocknr_high", 8),
	be32("checksum", 12),
}}

// CommitLayout is a commit block.
var CommitLayout = Structure{"commit_header", 60, []Field{
	be32("magic", 0),
	be32("blocktype", 4),
	be32("sequence", 8),
	be32("commit_sec", 52),
	u8("chksum_type", 12),
	u8("chksum_size", 13),
	be32("chksum", 16),
}}

// RevokeLayout is the head of a revoke block.
var RevokeLayout = Structure{"jbd2_journal_revoke_header_s", 16, []Field{
	be32("magic", 0),
	be32("blocktype", 4),
	be32("sequence", 8),
	be32("count", 12),
}}

// RevokedLayout is a record of a revoke block: the low half of the number of a block.
var RevokedLayout = Structure{"__be32", 4, []Field{
	be32("blocknr", 0),
}}
