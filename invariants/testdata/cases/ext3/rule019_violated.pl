% A directory moves, and its '..' does not change.
rule(19).
change(dirent,a(20,'d'),object,present,null).
change(dirent,a(20,'d'),inode,30,null).
change(dirent,a(40,'e'),object,null,present).
change(dirent,a(40,'e'),inode,null,30).
object(dirent,a(40,'e')).
state(dirent,a(40,'e'),inode,30).
object(inode,30).
state(inode,30,f(mode,s_ifmt),s_ifdir).
state(inode,30,links_count,2).
object(dirent,a(30,'..')).
state(dirent,a(30,'..'),inode,20).
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
expect(19, dirent, a(40,'e')).
