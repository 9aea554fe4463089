% Only the type of an entry changes.
rule(16).
object(5,k(257,inode_item,0)).
state(5,k(257,inode_item,0),f(mode,s_ifmt),s_ifreg).
change(5,k(256,dir_index,2),object,present,present).
change(5,k(256,dir_index,2),type,s_ifreg,s_ifdir).
object(5,k(256,dir_index,2)).
state(5,k(256,dir_index,2),type,s_ifdir).
state(5,k(256,dir_index,2),location,k(257,inode_item,0)).
object(5,k(258,inode_item,0)).
state(5,k(258,inode_item,0),f(mode,s_ifmt),s_ifreg).
change(5,k(256,dir_item,77),object,present,present).
change(5,k(256,dir_item,77),type,s_ifreg,s_ifdir).
object(5,k(256,dir_item,77)).
state(5,k(256,dir_item,77),type,s_ifdir).
state(5,k(256,dir_item,77),location,k(258,inode_item,0)).
expect(16, 5, k(256,dir_index,2)).
expect(16, 5, k(256,dir_item,77)).

% Only the type of an inode changes. Its name is in an inode_ref, or in an inode_extref.
change(5,k(259,inode_item,0),object,present,present).
change(5,k(259,inode_item,0),f(mode,s_ifmt),s_ifreg,s_ififo).
object(5,k(259,inode_item,0)).
state(5,k(259,inode_item,0),f(mode,s_ifmt),s_ififo).
object(5,k(259,inode_ref,a(256,4))).
object(5,k(256,dir_index,4)).
state(5,k(256,dir_index,4),type,s_ifreg).
state(5,k(256,dir_index,4),location,k(259,inode_item,0)).
change(5,k(260,inode_item,0),object,present,present).
change(5,k(260,inode_item,0),f(mode,s_ifmt),s_ifreg,s_ififo).
object(5,k(260,inode_item,0)).
state(5,k(260,inode_item,0),f(mode,s_ifmt),s_ififo).
object(5,k(260,inode_extref,a(256,5))).
object(5,k(256,dir_index,5)).
state(5,k(256,dir_index,5),type,s_ifreg).
state(5,k(256,dir_index,5),location,k(260,inode_item,0)).
expect(16, 5, k(259,inode_item,0)).
expect(16, 5, k(260,inode_item,0)).

% A new file has an entry of another type: the violation names the entry.
change(5,k(261,inode_item,0),object,null,present).
change(5,k(261,inode_item,0),f(mode,s_ifmt),null,s_ifreg).
object(5,k(261,inode_item,0)).
state(5,k(261,inode_item,0),f(mode,s_ifmt),s_ifreg).
change(5,k(261,inode_ref,a(256,6)),object,null,present).
object(5,k(261,inode_ref,a(256,6))).
change(5,k(256,dir_index,6),object,null,present).
change(5,k(256,dir_index,6),location,null,k(261,inode_item,0)).
change(5,k(256,dir_index,6),type,null,s_ifdir).
object(5,k(256,dir_index,6)).
state(5,k(256,dir_index,6),location,k(261,inode_item,0)).
state(5,k(256,dir_index,6),type,s_ifdir).
expect(16, 5, k(256,dir_index,6)).

% An entry of a subvolume says that it is a file.
change(5,k(256,dir_index,7),object,null,present).
change(5,k(256,dir_index,7),location,null,k(300,root_item,-1)).
change(5,k(256,dir_index,7),type,null,s_ifreg).
object(5,k(256,dir_index,7)).
state(5,k(256,dir_index,7),location,k(300,root_item,-1)).
state(5,k(256,dir_index,7),type,s_ifreg).
expect(16, 5, k(256,dir_index,7)).
