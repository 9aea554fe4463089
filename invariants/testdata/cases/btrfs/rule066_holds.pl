% A tree that is not a file tree has an object with the number of the cache.
rule(66).
change(1,k(-12,inode_item,0),object,null,present).
object(1,k(-12,inode_item,0)).
expect_none.
