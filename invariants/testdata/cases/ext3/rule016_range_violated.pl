% A file gets ten blocks in sequence. The last lies beyond its size.
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
change(owner,k(900,owner,a(12,0)),object,null,present).
change(owner,k(900,owner,a(12,0)),length,null,10).
object(owner,k(900,owner,a(12,0))).
object(inode,12).
state(inode,12,f(mode,s_ifmt),s_ifreg).
state(inode,12,links_count,1).
state(inode,12,size,32768).
state(inode,12,end,10).
expect(16, owner, k(900,owner,a(12,0))).
