% A file is deleted, with its bit. A truncation is complete. A reserved inode loses its link.
rule(14).
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
change(inode,12,links_count,1,0).
object(inode,12).
state(inode,12,links_count,0).
change(inode_bit,12,object,present,null).
change(inode_bit,12,inode_group,0,null).
change(orphan,13,object,present,null).
object(inode,13).
state(inode,13,links_count,1).
change(inode,7,object,present,present).
change(inode,7,links_count,1,0).
object(inode,7).
state(inode,7,links_count,0).
object(inode_bit,7).
state(inode_bit,7,inode_group,0).

% In a mounted file system the superblock names the first orphan.
change(superblock,0,last_orphan,0,14).
change(orphan,14,object,null,present).
object(orphan,14).
object(inode_bit,14).
state(inode_bit,14,inode_group,0).
expect_none.
