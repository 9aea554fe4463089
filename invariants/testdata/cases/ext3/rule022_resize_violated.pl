% The feature resize_inode is removed, and a block stays reserved.
rule(22).
object(superblock,0).
state(superblock,0,first_ino,11).
state(superblock,0,log_block_size,2).
state(superblock,0,feature_compat,45).
state(superblock,0,feature_incompat,2).
state(superblock,0,feature_ro_compat,1).
state(superblock,0,rev_level,1).
state(superblock,0,reserved_gdt_blocks,1).
state(superblock,0,journal_inum,8).
state(superblock,0,inodes_count,2000).
change(superblock,0,feature_compat,61,45).
expect(22, superblock, 0).
