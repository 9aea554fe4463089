% An entry is removed, with its inode.
rule(8).
change(dirent,a(2,'a'),object,present,null).
change(dirent,a(2,'a'),inode,12,null).
change(inode,12,object,present,null).
change(inode,12,links_count,1,null).
object(inode,13).
state(inode,13,links_count,1).
change(dirent,a(2,'b'),object,null,present).
change(dirent,a(2,'b'),inode,null,13).
object(dirent,a(2,'b')).
state(dirent,a(2,'b'),inode,13).
expect_none.
