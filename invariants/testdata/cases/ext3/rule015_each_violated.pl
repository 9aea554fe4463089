% The smallest possible dtime: a file in use gets it; a file that has it gets a link; one that has
% it leaves the orphan list.
rule(15).
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
change(inode,12,object,present,present).
change(inode,12,dtime,0,1).
object(inode,12).
state(inode,12,dtime,1).
state(inode,12,links_count,1).
change(inode,13,object,present,present).
change(inode,13,links_count,0,1).
object(inode,13).
state(inode,13,links_count,1).
state(inode,13,dtime,1).
change(orphan,14,object,present,null).
object(inode,14).
state(inode,14,links_count,1).
state(inode,14,dtime,1).
expect(15, inode, 12).
expect(15, inode, 13).
expect(15, orphan, 14).
