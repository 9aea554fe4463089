% A file system of revision 0 loses its features and its reserved blocks.
rule(22).
object(superblock,0).
state(superblock,0,first_ino,11).
state(superblock,0,log_block_size,2).
state(superblock,0,feature_compat,0).
state(superblock,0,feature_incompat,0).
state(superblock,0,feature_ro_compat,0).
state(superblock,0,rev_level,0).
state(superblock,0,reserved_gdt_blocks,0).
state(superblock,0,journal_inum,8).
state(superblock,0,inodes_count,2000).
change(superblock,0,feature_compat,60,0).
change(superblock,0,feature_incompat,2,0).
change(superblock,0,rev_level,1,0).
change(superblock,0,reserved_gdt_blocks,7,0).
expect_none.
