% Without the feature of extended attributes an inode has none. Other flags are no matter of a
% feature.
rule(17).
object(superblock,0).
state(superblock,0,first_ino,11).
state(superblock,0,log_block_size,2).
state(superblock,0,feature_compat,53).
state(superblock,0,feature_incompat,2).
state(superblock,0,feature_ro_compat,1).
state(superblock,0,rev_level,1).
state(superblock,0,reserved_gdt_blocks,0).
state(superblock,0,journal_inum,8).
state(superblock,0,inodes_count,2000).
change(inode,12,object,present,present).
change(inode,12,file_acl,7,0).
object(inode,12).
state(inode,12,file_acl,0).
change(inode,13,object,present,present).
change(inode,13,f(flags,other),0,16385).
object(inode,13).
state(inode,13,f(flags,other),16385).
change(inode,14,object,present,present).
change(inode,14,f(flags,other),8192,1).
object(inode,14).
state(inode,14,f(flags,other),1).
expect_none.
