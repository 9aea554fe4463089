% An entry leads to another file, and its type stays.
rule(16).
object(5,k(257,inode_item,0)).
state(5,k(257,inode_item,0),f(mode,s_ifmt),s_ifreg).
change(5,k(256,dir_index,2),object,present,present).
change(5,k(256,dir_index,2),location,k(299,inode_item,0),k(257,inode_item,0)).
object(5,k(256,dir_index,2)).
state(5,k(256,dir_index,2),location,k(257,inode_item,0)).
state(5,k(256,dir_index,2),type,s_ifreg).

% An entry gets the type of its existing inode, while inodes of other types are created.
object(5,k(258,inode_item,0)).
state(5,k(258,inode_item,0),f(mode,s_ifmt),s_ifreg).
change(5,k(256,dir_index,3),object,present,present).
change(5,k(256,dir_index,3),type,s_ifdir,s_ifreg).
object(5,k(256,dir_index,3)).
state(5,k(256,dir_index,3),type,s_ifreg).
state(5,k(256,dir_index,3),location,k(258,inode_item,0)).
change(5,k(259,inode_item,0),object,null,present).
change(5,k(259,inode_item,0),f(mode,s_ifmt),null,s_ififo).
object(5,k(259,inode_item,0)).
state(5,k(259,inode_item,0),f(mode,s_ifmt),s_ififo).

% An inode and its entry change their type together. An entry of a subvolume has the type of a
% directory.
change(5,k(260,inode_item,0),object,present,present).
change(5,k(260,inode_item,0),f(mode,s_ifmt),s_ifreg,s_ififo).
object(5,k(260,inode_item,0)).
state(5,k(260,inode_item,0),f(mode,s_ifmt),s_ififo).
object(5,k(260,inode_ref,a(256,4))).
change(5,k(256,dir_index,4),object,present,present).
change(5,k(256,dir_index,4),type,s_ifreg,s_ififo).
object(5,k(256,dir_index,4)).
state(5,k(256,dir_index,4),type,s_ififo).
state(5,k(256,dir_index,4),location,k(260,inode_item,0)).
change(5,k(256,dir_index,7),object,null,present).
change(5,k(256,dir_index,7),location,null,k(300,root_item,-1)).
change(5,k(256,dir_index,7),type,null,s_ifdir).
object(5,k(256,dir_index,7)).
state(5,k(256,dir_index,7),location,k(300,root_item,-1)).
state(5,k(256,dir_index,7),type,s_ifdir).

% An entry whose type was wrong before is written again.
object(5,k(262,inode_item,0)).
state(5,k(262,inode_item,0),f(mode,s_ifmt),s_ifreg).
change(5,k(256,dir_index,8),object,present,present).
change(5,k(256,dir_index,8),transid,8,9).
object(5,k(256,dir_index,8)).
state(5,k(256,dir_index,8),transid,9).
state(5,k(256,dir_index,8),type,s_ifdir).
state(5,k(256,dir_index,8),location,k(262,inode_item,0)).

% The location and the type of an extended attribute mean nothing. Rule 12, not this one, judges a
% name without an inode.
change(5,k(257,xattr_item,9),object,null,present).
change(5,k(257,xattr_item,9),location,null,k(257,inode_item,0)).
change(5,k(257,xattr_item,9),type,null,s_ifdir).
object(5,k(257,xattr_item,9)).
state(5,k(257,xattr_item,9),location,k(257,inode_item,0)).
state(5,k(257,xattr_item,9),type,s_ifdir).
change(5,k(257,xattr_item,8),object,present,present).
change(5,k(257,xattr_item,8),type,s_ifreg,s_ifdir).
object(5,k(257,xattr_item,8)).
state(5,k(257,xattr_item,8),type,s_ifdir).
state(5,k(257,xattr_item,8),location,k(257,inode_item,0)).
change(5,k(261,inode_item,0),object,present,null).
change(5,k(261,inode_item,0),f(mode,s_ifmt),s_ifreg,null).
object(5,k(261,inode_ref,a(256,5))).
object(5,k(256,dir_index,5)).
state(5,k(256,dir_index,5),type,s_ifreg).
expect_none.
