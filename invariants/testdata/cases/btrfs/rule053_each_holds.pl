% A file is created without protection. Another file loses its protection (a crash interrupted it).
rule(53).
change(5,k(257,inode_item,0),object,null,present).
change(5,k(257,inode_item,0),flags,null,0).
object(5,k(257,inode_item,0)).
state(5,k(257,inode_item,0),flags,0).
change(5,k(258,verity_desc_item,0),object,present,null).
object(5,k(258,inode_item,0)).
state(5,k(258,inode_item,0),flags,4294967295).
expect_none.
