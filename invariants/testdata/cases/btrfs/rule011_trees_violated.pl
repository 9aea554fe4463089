% The subvolumes with the lowest and the highest number. A tree with a higher number is not a
% subvolume.
rule(11).
change(256,k(257,inode_item,0),object,present,present).
change(256,k(257,inode_item,0),nlink,1,0).
object(256,k(257,inode_item,0)).
state(256,k(257,inode_item,0),nlink,0).
change(18446744073709551359,k(257,inode_item,0),object,present,present).
change(18446744073709551359,k(257,inode_item,0),nlink,1,0).
object(18446744073709551359,k(257,inode_item,0)).
state(18446744073709551359,k(257,inode_item,0),nlink,0).
change(18446744073709551360,k(257,inode_item,0),object,present,present).
change(18446744073709551360,k(257,inode_item,0),nlink,1,0).
object(18446744073709551360,k(257,inode_item,0)).
state(18446744073709551360,k(257,inode_item,0),nlink,0).
change(255,k(257,inode_item,0),object,present,present).
change(255,k(257,inode_item,0),nlink,1,0).
object(255,k(257,inode_item,0)).
state(255,k(257,inode_item,0),nlink,0).
expect(11, 256, k(257,inode_item,0)).
expect(11, 18446744073709551359, k(257,inode_item,0)).
