% Fields that ext3 does not have are set, and the flag imagic.
rule(17).
change(inode,12,object,present,present).
change(inode,12,faddr,0,7).
change(inode,13,object,present,present).
change(inode,13,f(flags,other),0,8192).
change(inode,14,object,present,present).
change(inode,14,file_acl_high,0,1).
object(inode,12).
object(inode,13).
object(inode,14).
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
expect(17, inode, 12).
expect(17, inode, 13).
expect(17, inode, 14).
