% A file is made that is not protected; of another, the protection is given up (a crash came
% before it was complete).
rule(53).
change(5,k(257,inode_item,0),object,null,present).
change(5,k(257,inode_item,0),flags,null,0).
object(5,k(257,inode_item,0)).
state(5,k(257,inode_item,0),flags,0).
change(5,k(258,verity_desc_item,0),object,present,null).
object(5,k(258,inode_item,0)).
state(5,k(258,inode_item,0),flags,4294967295).
expect_none.
