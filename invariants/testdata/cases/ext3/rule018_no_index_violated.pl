% A directory gets an index, and the file system lacks the feature dir_index.
rule(18).
object(superblock,0).
state(superblock,0,first_ino,11).
state(superblock,0,log_block_size,2).
state(superblock,0,feature_compat,29).
state(superblock,0,feature_incompat,2).
state(superblock,0,feature_ro_compat,1).
state(superblock,0,rev_level,1).
state(superblock,0,reserved_gdt_blocks,0).
state(superblock,0,journal_inum,8).
state(superblock,0,inodes_count,2000).
change(inode,12,object,present,present).
change(inode,12,f(flags,index),0,1).
object(inode,12).
state(inode,12,f(flags,index),1).
state(inode,12,f(mode,s_ifmt),s_ifdir).
expect(18, inode, 12).
