% A file is renamed: one name is removed, another is added. A name moves from an inode_ref to an
% inode_extref.
rule(14).
object(5,k(257,inode_item,0)).
state(5,k(257,inode_item,0),nlink,1).
change(5,k(257,inode_ref,a(256,2)),object,present,null).
change(5,k(257,inode_ref,a(256,3)),object,null,present).
object(5,k(257,inode_ref,a(256,3))).
object(5,k(258,inode_item,0)).
state(5,k(258,inode_item,0),nlink,1).
change(5,k(258,inode_ref,a(256,4)),object,present,null).
change(5,k(258,inode_extref,a(256,4)),object,null,present).
object(5,k(258,inode_extref,a(256,4))).

% The deprecated cache of inode numbers has an inode without a name.
change(5,k(-12,inode_item,0),object,null,present).
change(5,k(-12,inode_item,0),nlink,null,1).
object(5,k(-12,inode_item,0)).
state(5,k(-12,inode_item,0),nlink,1).
change(5,k(18446744073709551360,inode_item,0),object,null,present).
change(5,k(18446744073709551360,inode_item,0),nlink,null,1).
object(5,k(18446744073709551360,inode_item,0)).
state(5,k(18446744073709551360,inode_item,0),nlink,1).

% A file gets both kinds of names; another one loses them with its inode.
change(5,k(259,inode_item,0),object,null,present).
change(5,k(259,inode_item,0),nlink,null,2).
object(5,k(259,inode_item,0)).
state(5,k(259,inode_item,0),nlink,2).
change(5,k(259,inode_ref,a(256,5)),object,null,present).
object(5,k(259,inode_ref,a(256,5))).
change(5,k(259,inode_extref,a(256,6)),object,null,present).
object(5,k(259,inode_extref,a(256,6))).
change(5,k(260,inode_item,0),object,present,null).
change(5,k(260,inode_item,0),nlink,2,null).
change(5,k(260,inode_ref,a(256,5)),object,present,null).
change(5,k(260,inode_extref,a(256,6)),object,present,null).
expect_none.
