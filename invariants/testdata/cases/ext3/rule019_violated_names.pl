% A directory gets a second name, a name leads to the root, and '..' of the root changes.
rule(19).
change(dirent,a(20,'d'),object,null,present).
change(dirent,a(20,'d'),inode,null,30).
object(dirent,a(20,'d')).
state(dirent,a(20,'d'),inode,30).
object(inode,30).
state(inode,30,f(mode,s_ifmt),s_ifdir).
state(inode,30,links_count,2).
object(dirent,a(30,'..')).
state(dirent,a(30,'..'),inode,20).
change(dirent,a(20,'r'),object,null,present).
change(dirent,a(20,'r'),inode,null,2).
object(dirent,a(20,'r')).
change(dirent,a(2,'..'),object,present,present).
change(dirent,a(2,'..'),inode,2,20).
object(dirent,a(2,'..')).
change(dirent,a(50,'..'),object,present,present).
change(dirent,a(50,'..'),inode,20,21).
object(dirent,a(50,'..')).
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
expect(19, dirent, a(20,'d')).
expect(19, dirent, a(20,'r')).
expect(19, dirent, a(2,'..')).
expect(19, dirent, a(50,'..')).
