% Two blocks are added and one is removed, and the count does not change.
rule(13).
change(owner,k(900,owner,a(12,0)),object,null,present).
change(owner,k(900,owner,a(12,0)),length,null,1).
object(owner,k(900,owner,a(12,0))).
change(owner,k(901,owner,a(12,1)),object,null,present).
change(owner,k(901,owner,a(12,1)),length,null,1).
object(owner,k(901,owner,a(12,1))).
change(owner,k(800,owner,a(12,7)),object,present,null).
change(owner,k(800,owner,a(12,7)),length,1,null).
change(inode,12,object,present,present).
change(inode,12,blocks,40,40).
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
