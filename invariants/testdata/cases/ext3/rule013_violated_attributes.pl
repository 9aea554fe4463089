% The blocks field of a new inode does not count its extended attribute block.
rule(13).
change(xattr_owner,a(900,13),object,null,present).
object(xattr_owner,a(900,13)).
change(inode,13,object,null,present).
change(inode,13,blocks,null,0).
object(inode,13).
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
expect(13, inode, 13).
