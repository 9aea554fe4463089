% An entry is added to a directory.
rule(13).
change(5,k(256,dir_item,77),object,null,present).
object(5,k(256,inode_item,0)).
state(5,k(256,inode_item,0),f(mode,s_ifmt),s_ifdir).
expect_none.
