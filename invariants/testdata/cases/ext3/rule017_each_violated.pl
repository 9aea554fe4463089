% Each field that ext3 does not use.
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
change(inode,12,faddr,0,1).
object(inode,12).
state(inode,12,faddr,1).
change(inode,13,object,present,present).
change(inode,13,blocks_high,0,1).
object(inode,13).
state(inode,13,blocks_high,1).
change(inode,14,object,present,present).
change(inode,14,file_acl_high,0,1).
object(inode,14).
state(inode,14,file_acl_high,1).
change(inode,15,object,present,present).
change(inode,15,size_high,0,1).
object(inode,15).
state(inode,15,size_high,1).
expect(17, inode, 12).
expect(17, inode, 13).
expect(17, inode, 14).
expect(17, inode, 15).

% Without the features an inode has extended attributes, and the flag of an inode that AFS made.
change(inode,20,object,present,present).
change(inode,20,file_acl,0,1).
object(inode,20).
state(inode,20,file_acl,1).
change(inode,21,object,present,present).
change(inode,21,f(flags,other),0,8192).
object(inode,21).
state(inode,21,f(flags,other),8192).
expect(17, inode, 20).
expect(17, inode, 21).
