% The root is deleted. A reserved inode without a use is added, and so is the last reserved inode.
rule(21).
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
change(inode,2,object,present,null).
change(inode,2,f(mode,s_ifmt),s_ifdir,null).
change(inode,3,object,null,present).
change(inode,3,f(mode,s_ifmt),null,s_ifreg).
object(inode,3).
state(inode,3,f(mode,s_ifmt),s_ifreg).
change(inode,10,object,null,present).
change(inode,10,f(mode,s_ifmt),null,s_ifreg).
object(inode,10).
state(inode,10,f(mode,s_ifmt),s_ifreg).
expect(21, inode, 2).
expect(21, inode, 3).
expect(21, inode, 10).

% The journal becomes a directory.
change(inode,8,object,present,present).
change(inode,8,f(mode,s_ifmt),s_ifreg,s_ifdir).
object(inode,8).
state(inode,8,f(mode,s_ifmt),s_ifdir).
expect(21, inode, 8).
