% An entry names an inode in use.
rule(8).
change(dirent,a(2,'b'),object,null,present).
change(dirent,a(2,'b'),inode,null,12).
object(inode,12).
state(inode,12,links_count,1).
expect_none.
