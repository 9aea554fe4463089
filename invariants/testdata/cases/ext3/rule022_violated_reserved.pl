% Blocks are reserved for descriptors, and the feature resize_inode is not set.
rule(22).
change(superblock,0,object,present,present).
change(superblock,0,reserved_gdt_blocks,0,255).
object(superblock,0).
state(superblock,0,first_ino,11).
state(superblock,0,log_block_size,2).
state(superblock,0,feature_compat,44).
state(superblock,0,feature_incompat,2).
state(superblock,0,feature_ro_compat,1).
state(superblock,0,rev_level,1).
state(superblock,0,reserved_gdt_blocks,255).
state(superblock,0,journal_inum,8).
state(superblock,0,inodes_count,2000).
expect(22, superblock, 0).
