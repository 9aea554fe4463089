% An inode is deleted with all its items.
rule(12).
change(5,k(257,inode_item,0),object,present,null).
change(5,k(257,extent_data,0),object,present,null).
object(5,k(256,inode_item,0)).
expect_none.
