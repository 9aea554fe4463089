% A file leaves the orphan list and was not truncated. A directory gets only a block, or only a
% size.
rule(16).
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
change(orphan,12,object,present,null).
object(inode,12).
state(inode,12,f(mode,s_ifmt),s_ifreg).
state(inode,12,links_count,1).
state(inode,12,size,4096).
state(inode,12,end,3).
change(inode,13,object,present,present).
change(inode,13,blocks,8,16).
object(inode,13).
state(inode,13,blocks,16).
state(inode,13,f(mode,s_ifmt),s_ifdir).
state(inode,13,links_count,2).
state(inode,13,size,4096).
state(inode,13,end,2).
change(inode,14,object,present,present).
change(inode,14,size,4096,8192).
object(inode,14).
state(inode,14,size,8192).
state(inode,14,f(mode,s_ifmt),s_ifdir).
state(inode,14,links_count,1).
state(inode,14,end,1).
expect(16, inode, 12).
expect(16, inode, 13).
expect(16, inode, 14).

% A directory gets a block beyond its size: the violation names the directory.
change(owner,k(900,owner,a(15,3)),object,null,present).
change(owner,k(900,owner,a(15,3)),length,null,1).
object(owner,k(900,owner,a(15,3))).
change(inode,15,object,present,present).
change(inode,15,blocks,8,16).
object(inode,15).
state(inode,15,blocks,16).
state(inode,15,f(mode,s_ifmt),s_ifdir).
state(inode,15,links_count,2).
state(inode,15,size,8192).
state(inode,15,end,4).
expect(16, inode, 15).

% A file with one block becomes empty and keeps the block.
change(inode,16,object,present,present).
change(inode,16,size,4096,0).
object(inode,16).
state(inode,16,size,0).
state(inode,16,f(mode,s_ifmt),s_ifreg).
state(inode,16,links_count,1).
state(inode,16,end,2).
expect(16, inode, 16).
