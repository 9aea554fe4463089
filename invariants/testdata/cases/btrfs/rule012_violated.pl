% An inode is deleted and leaves an extent behind.
rule(12).
change(5,k(257,inode_item,0),object,present,null).
object(5,k(256,inode_item,0)).
object(5,k(257,extent_data,0)).
expect(12, 5, k(257,extent_data,0)).
