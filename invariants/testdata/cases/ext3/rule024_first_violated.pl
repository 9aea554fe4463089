% The block in the first place is also below a third level.
rule(24).
object(superblock,0).
state(superblock,0,first_ino,11).
state(superblock,0,log_block_size,0).
state(superblock,0,feature_compat,60).
state(superblock,0,feature_incompat,2).
state(superblock,0,feature_ro_compat,1).
state(superblock,0,rev_level,1).
state(superblock,0,reserved_gdt_blocks,2).
state(superblock,0,journal_inum,8).
state(superblock,0,inodes_count,2000).
state(superblock,0,inode_size,128).
state(superblock,0,first_data_block,1).
state(superblock,0,blocks_per_group,256).
state(superblock,0,blocks_count,2097153).
state(superblock,0,r_blocks_count,1000).
change(owner,k(258,owner,a(7,2199023321356)),object,null,present).
change(owner,k(258,owner,a(7,2199023321356)),length,null,1).
expect(24, owner, k(258,owner,a(7,2199023321356))).
