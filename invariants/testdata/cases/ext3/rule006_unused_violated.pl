% The bit of an inode without links is set, and the inode is not on the orphan list.
rule(6).
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
change(inode_bit,12,object,null,present).
change(inode_bit,12,inode_group,null,0).
object(inode_bit,12).
state(inode_bit,12,inode_group,0).
object(inode,12).
state(inode,12,links_count,0).
expect(6, inode_bit, 12).
