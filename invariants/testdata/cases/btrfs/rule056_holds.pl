% A subvolume has a root directory.
rule(56).
change(1,k(256,root_item,0),object,null,present).
change(1,k(256,root_item,0),root_dirid,null,256).
object(1,k(256,root_item,0)).
state(1,k(256,root_item,0),refs,1).
object(256,k(256,inode_item,0)).
state(256,k(256,inode_item,0),f(mode,s_ifmt),s_ifdir).
expect_none.
