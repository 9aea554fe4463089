% A device has a size, and a file gets an index.
rule(18).
change(inode,12,object,null,present).
change(inode,12,f(mode,s_ifmt),null,s_ifchr).
change(inode,12,size,null,5).
object(inode,12).
state(inode,12,f(mode,s_ifmt),s_ifchr).
state(inode,12,size,5).
state(inode,12,f(flags,immutable),0).
state(inode,12,f(flags,append),0).
change(inode,13,object,present,present).
change(inode,13,f(flags,index),0,1).
object(inode,13).
state(inode,13,f(mode,s_ifmt),s_ifreg).
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
expect(18, inode, 12).
expect(18, inode, 13).
