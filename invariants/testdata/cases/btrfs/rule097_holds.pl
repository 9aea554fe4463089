% A file in a log has the highest possible number of names.
rule(97).
change(-6,k(257,inode_item,0),object,null,present).
change(-6,k(257,inode_item,0),nlink,null,65535).
expect_none.
