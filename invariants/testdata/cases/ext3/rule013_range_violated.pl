% A file gets 1000 blocks in sequence, and the count grows by those of 999.
rule(13).
change(owner,k(900,owner,a(12,0)),object,null,present).
change(owner,k(900,owner,a(12,0)),length,null,1000).
object(owner,k(900,owner,a(12,0))).
change(inode,12,object,present,present).
change(inode,12,blocks,40,8032).
object(inode,12).
object(superblock,0).
state(superblock,0,first_ino,11).
state(superblock,0,log_block_size,2).
state(superblock,0,feature_compat,60).
state(superblock,0,feature_incompat,2).
state(superblock,0,feature_ro_compat,1).
state(superblock,0,rev_level,1).
state(superblock,0,reserved_gdt_blocks,0).
state(superblock,0,journal_inum,8).
state(superblock,0,inodes_count,2000).
expect(13, inode, 12).
