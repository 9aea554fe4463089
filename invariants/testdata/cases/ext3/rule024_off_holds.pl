% Without the feature, rule 21 and not this one judges the inode. The rule does not judge the
% pointers of other inodes.
rule(24).
object(superblock,0).
state(superblock,0,first_ino,11).
state(superblock,0,log_block_size,0).
state(superblock,0,feature_compat,45).
state(superblock,0,feature_incompat,2).
state(superblock,0,feature_ro_compat,1).
state(superblock,0,rev_level,1).
state(superblock,0,reserved_gdt_blocks,0).
state(superblock,0,journal_inum,8).
state(superblock,0,inodes_count,2000).
state(superblock,0,inode_size,128).
state(superblock,0,first_data_block,1).
state(superblock,0,blocks_per_group,8192).
state(superblock,0,blocks_count,20480).
state(superblock,0,r_blocks_count,1000).
change(owner,k(5000,owner,a(7,0)),object,null,present).
change(owner,k(5000,owner,a(7,0)),length,null,2).
change(owner,k(5002,owner,a(12,0)),object,null,present).
change(owner,k(5002,owner,a(12,0)),length,null,2).
expect_none.
