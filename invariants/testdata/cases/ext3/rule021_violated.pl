% The root becomes a file, the journal a directory, and a reserved inode is used.
rule(21).
change(inode,2,object,present,present).
change(inode,2,f(mode,s_ifmt),s_ifdir,s_ifreg).
object(inode,2).
change(inode,8,object,present,present).
change(inode,8,f(mode,s_ifmt),s_ifreg,s_ifdir).
object(inode,8).
change(inode,6,object,null,present).
object(inode,6).
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
expect(21, inode, 2).
expect(21, inode, 8).
expect(21, inode, 6).
