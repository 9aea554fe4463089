% Without their features, the resize inode and the journal have no use.
rule(21).
object(superblock,0).
state(superblock,0,first_ino,11).
state(superblock,0,log_block_size,2).
state(superblock,0,feature_compat,33).
state(superblock,0,feature_incompat,2).
state(superblock,0,feature_ro_compat,1).
state(superblock,0,rev_level,1).
state(superblock,0,reserved_gdt_blocks,0).
state(superblock,0,journal_inum,0).
state(superblock,0,inodes_count,2000).
change(inode,7,object,null,present).
change(inode,7,f(mode,s_ifmt),null,s_ifreg).
object(inode,7).
state(inode,7,f(mode,s_ifmt),s_ifreg).
change(inode,8,object,null,present).
change(inode,8,f(mode,s_ifmt),null,s_ifreg).
object(inode,8).
state(inode,8,f(mode,s_ifmt),s_ifreg).
expect(21, inode, 7).
expect(21, inode, 8).
