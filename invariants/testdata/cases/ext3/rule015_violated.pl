% A file in use gets a dtime. Another leaves the orphan list and keeps the next inode in its dtime.
% A third gets a link again.
rule(15).
change(inode,12,object,present,present).
change(inode,12,dtime,0,13).
object(inode,12).
state(inode,12,links_count,1).
state(inode,12,dtime,13).
change(orphan,20,object,present,null).
object(inode,20).
state(inode,20,links_count,1).
state(inode,20,dtime,12).
change(inode,21,object,present,present).
change(inode,21,links_count,0,1).
object(inode,21).
state(inode,21,links_count,1).
state(inode,21,dtime,99).
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
expect(15, inode, 12).
expect(15, orphan, 20).
expect(15, inode, 21).
