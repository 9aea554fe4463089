% The inode number of the cache is free in a tree that is none of files.
rule(66).
change(1,k(-12,inode_item,0),object,null,present).
object(1,k(-12,inode_item,0)).
expect_none.
