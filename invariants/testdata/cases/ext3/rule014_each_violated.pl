% The first unreserved inode loses its last link, stays marked, and is not put on the orphan list.
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
change(inode,11,object,present,present).
change(inode,11,links_count,1,0).
object(inode,11).
state(inode,11,links_count,0).
object(inode_bit,11).
state(inode_bit,11,inode_group,0).
expect(14, inode, 11).
