% The root directory of a subvolume, and that of the top level, are removed.
rule(56).
object(1,k(300,root_item,0)).
state(1,k(300,root_item,0),refs,1).
change(300,k(256,inode_item,0),object,present,null).
object(1,k(5,root_item,0)).
state(1,k(5,root_item,0),refs,1).
change(5,k(256,inode_item,0),object,present,null).
expect(56, 300, k(256,inode_item,0)).
expect(56, 5, k(256,inode_item,0)).
