% The last name of an open file is removed, and the file is not put on the orphan list. Inode 13 is
% on the list and free. Inode 14, which has no links, leaves the list.
rule(14).
change(inode,12,object,present,present).
change(inode,12,links_count,1,0).
object(inode,12).
state(inode,12,links_count,0).
object(inode_bit,12).
change(orphan,13,object,null,present).
object(orphan,13).
change(orphan,14,object,present,null).
object(inode,14).
state(inode,14,links_count,0).
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
expect(14, inode, 12).
expect(14, orphan, 13).
expect(14, orphan, 14).
