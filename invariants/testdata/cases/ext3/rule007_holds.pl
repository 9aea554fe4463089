% A second entry is added, and the link count grows.
rule(7).
change(inode,12,object,present,present).
change(inode,12,links_count,1,2).
change(dirent,a(2,'b'),object,null,present).
change(dirent,a(2,'b'),inode,null,12).
object(superblock,0).
state(superblock,0,first_ino,11).
object(inode,12).
state(inode,12,links_count,2).
expect_none.
