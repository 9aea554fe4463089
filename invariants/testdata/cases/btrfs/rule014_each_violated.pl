% A name is added, or a name is removed, and the link count does not change.
rule(14).
object(5,k(257,inode_item,0)).
state(5,k(257,inode_item,0),nlink,1).
change(5,k(257,inode_ref,a(256,2)),object,null,present).
object(5,k(257,inode_ref,a(256,2))).
object(5,k(258,inode_item,0)).
state(5,k(258,inode_item,0),nlink,1).
change(5,k(258,inode_ref,a(256,3)),object,present,null).
expect(14, 5, k(257,inode_item,0)).
expect(14, 5, k(258,inode_item,0)).

% The same with names that do not fit into an inode_ref.
object(5,k(259,inode_item,0)).
state(5,k(259,inode_item,0),nlink,1).
change(5,k(259,inode_extref,a(256,2)),object,null,present).
object(5,k(259,inode_extref,a(256,2))).
object(5,k(260,inode_item,0)).
state(5,k(260,inode_item,0),nlink,1).
change(5,k(260,inode_extref,a(256,3)),object,present,null).
expect(14, 5, k(259,inode_item,0)).
expect(14, 5, k(260,inode_item,0)).

% The highest possible inode number.
change(5,k(18446744073709551359,inode_item,0),object,present,present).
change(5,k(18446744073709551359,inode_item,0),nlink,1,2).
object(5,k(18446744073709551359,inode_item,0)).
state(5,k(18446744073709551359,inode_item,0),nlink,2).
expect(14, 5, k(18446744073709551359,inode_item,0)).
