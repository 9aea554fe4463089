% A block of the journal is replaced by another.
rule(27).
object(superblock,0).
state(superblock,0,first_ino,11).
state(superblock,0,log_block_size,0).
state(superblock,0,feature_compat,60).
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
change(inode,8,object,present,present).
change(owner,k(5000,owner,a(8,3)),object,null,present).
change(owner,k(5000,owner,a(8,3)),length,null,1).
change(owner,k(4000,owner,a(8,3)),object,present,null).
change(owner,k(4000,owner,a(8,3)),length,1,null).
expect(27, owner, k(5000,owner,a(8,3))).
expect(27, owner, k(4000,owner,a(8,3))).
