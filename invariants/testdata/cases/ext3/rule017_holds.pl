% An inode is added with an extended attribute block, and ext_attr is set.
rule(17).
change(inode,12,object,null,present).
change(inode,12,file_acl,null,900).
change(inode,12,faddr,null,0).
change(inode,12,blocks_high,null,0).
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
expect_none.
