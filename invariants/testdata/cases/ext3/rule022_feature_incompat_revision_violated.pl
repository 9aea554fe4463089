% A file system with a feature in feature_incompat gets revision 0.
rule(22).
object(superblock,0).
state(superblock,0,first_ino,11).
state(superblock,0,log_block_size,2).
state(superblock,0,feature_compat,0).
state(superblock,0,feature_incompat,2).
state(superblock,0,feature_ro_compat,0).
state(superblock,0,rev_level,0).
state(superblock,0,reserved_gdt_blocks,0).
state(superblock,0,journal_inum,8).
state(superblock,0,inodes_count,2000).
change(superblock,0,rev_level,1,0).
expect(22, superblock, 0).
