% A directory is created, another is deleted, one moves to the root, and one moves below another.
rule(20).
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
change(dirent,a(12,'..'),object,null,present).
change(dirent,a(12,'..'),inode,null,2).
object(dirent,a(12,'..')).
state(dirent,a(12,'..'),inode,2).
change(dirent,a(13,'..'),object,present,null).
change(dirent,a(13,'..'),inode,2,null).
object(dirent,a(2,'..')).
state(dirent,a(2,'..'),inode,2).
change(dirent,a(14,'..'),object,present,present).
change(dirent,a(14,'..'),inode,12,2).
object(dirent,a(14,'..')).
state(dirent,a(14,'..'),inode,2).
change(dirent,a(15,'..'),object,present,present).
change(dirent,a(15,'..'),inode,2,14).
object(dirent,a(15,'..')).
state(dirent,a(15,'..'),inode,14).

% A file system that is new as a whole: the root lies in itself.
change(dirent,a(2,'..'),inode,null,2).
expect_none.
