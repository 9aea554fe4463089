% An entry of a file has the type of a file.
rule(9).
change(dirent,a(2,'b'),object,null,present).
change(dirent,a(2,'b'),inode,null,12).
change(dirent,a(2,'b'),file_type,null,s_ifreg).
object(inode,12).
state(inode,12,f(mode,s_ifmt),s_ifreg).
expect_none.
