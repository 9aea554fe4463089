% An inode with a link is marked in the bitmap.
rule(6).
change(inode,12,object,null,present).
change(inode,12,links_count,null,1).
object(inode,12).
state(inode,12,links_count,1).
object(inode_bit,12).
expect_none.
