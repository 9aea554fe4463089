% A file of 4096 bytes gets a third block.
rule(16).
change(owner,k(900,owner,a(12,2)),object,null,present).
change(owner,k(900,owner,a(12,2)),length,null,1).
object(owner,k(900,owner,a(12,2))).
change(inode,12,object,present,present).
change(inode,12,size,4096,4096).
change(inode,12,blocks,8,16).
object(inode,12).
state(inode,12,f(mode,s_ifmt),s_ifreg).
state(inode,12,links_count,2).
state(inode,12,size,4096).
state(inode,12,end,3).
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
expect(16, owner, k(900,owner,a(12,2))).
expect(16, inode, 12).
