% A directory moves below itself.
rule(20).
change(dirent,a(30,'..'),object,present,present).
change(dirent,a(30,'..'),inode,2,50).
object(dirent,a(30,'..')).
state(dirent,a(30,'..'),inode,50).
object(dirent,a(50,'..')).
state(dirent,a(50,'..'),inode,40).
object(dirent,a(40,'..')).
state(dirent,a(40,'..'),inode,30).
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
expect(20, dirent, a(30,'..')).
