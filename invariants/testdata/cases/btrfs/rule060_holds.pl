% A free space cache is a regular file.
rule(60).
change(1,k(-11,free_space_header,30408704),object,null,present).
change(1,k(-11,free_space_header,30408704),location,null,k(256,inode_item,0)).
object(1,k(-11,free_space_header,30408704)).

object(1,k(256,inode_item,0)).
state(1,k(256,inode_item,0),f(mode,s_ifmt),s_ifreg).
expect_none.
