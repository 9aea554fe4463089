% A symbolic link gets an extent that is not inline, behind its target.
rule(52).
object(5,k(257,inode_item,0)).
state(5,k(257,inode_item,0),f(mode,s_ifmt),s_iflnk).
state(5,k(257,inode_item,0),nlink,1).
state(5,k(257,inode_item,0),size,6).
state(5,k(257,inode_item,0),flags,0).
object(5,k(257,extent_data,0)).
state(5,k(257,extent_data,0),type,inline).
state(5,k(257,extent_data,0),ram_bytes,6).
change(5,k(257,extent_data,4096),object,null,present).
change(5,k(257,extent_data,4096),type,null,data).
object(5,k(257,extent_data,4096)).
state(5,k(257,extent_data,4096),type,data).
expect(52, 5, k(257,extent_data,4096)).

% A link becomes append-only, and another one immutable.
change(5,k(258,inode_item,0),object,present,present).
change(5,k(258,inode_item,0),flags,0,128).
object(5,k(258,inode_item,0)).
state(5,k(258,inode_item,0),flags,128).
state(5,k(258,inode_item,0),f(mode,s_ifmt),s_iflnk).
state(5,k(258,inode_item,0),nlink,1).
state(5,k(258,inode_item,0),size,6).
object(5,k(258,extent_data,0)).
state(5,k(258,extent_data,0),type,inline).
state(5,k(258,extent_data,0),ram_bytes,6).
change(5,k(259,inode_item,0),object,present,present).
change(5,k(259,inode_item,0),flags,0,64).
object(5,k(259,inode_item,0)).
state(5,k(259,inode_item,0),flags,64).
state(5,k(259,inode_item,0),f(mode,s_ifmt),s_iflnk).
state(5,k(259,inode_item,0),nlink,1).
state(5,k(259,inode_item,0),size,6).
object(5,k(259,extent_data,0)).
state(5,k(259,extent_data,0),type,inline).
state(5,k(259,extent_data,0),ram_bytes,6).
expect(52, 5, k(258,inode_item,0)).
expect(52, 5, k(259,inode_item,0)).

% A link has a target that is longer than its size by more than one zero byte.
change(5,k(260,inode_item,0),object,null,present).
change(5,k(260,inode_item,0),f(mode,s_ifmt),null,s_iflnk).
change(5,k(260,inode_item,0),nlink,null,1).
change(5,k(260,inode_item,0),size,null,6).
change(5,k(260,inode_item,0),flags,null,0).
object(5,k(260,inode_item,0)).
state(5,k(260,inode_item,0),f(mode,s_ifmt),s_iflnk).
state(5,k(260,inode_item,0),nlink,1).
state(5,k(260,inode_item,0),size,6).
state(5,k(260,inode_item,0),flags,0).
change(5,k(260,extent_data,0),object,null,present).
change(5,k(260,extent_data,0),type,null,inline).
change(5,k(260,extent_data,0),ram_bytes,null,8).
object(5,k(260,extent_data,0)).
state(5,k(260,extent_data,0),type,inline).
state(5,k(260,extent_data,0),ram_bytes,8).
expect(52, 5, k(260,inode_item,0)).

% The target of a link is preallocated space.
change(5,k(261,inode_item,0),object,null,present).
change(5,k(261,inode_item,0),f(mode,s_ifmt),null,s_iflnk).
change(5,k(261,inode_item,0),nlink,null,1).
change(5,k(261,inode_item,0),size,null,6).
change(5,k(261,inode_item,0),flags,null,0).
object(5,k(261,inode_item,0)).
state(5,k(261,inode_item,0),f(mode,s_ifmt),s_iflnk).
state(5,k(261,inode_item,0),nlink,1).
state(5,k(261,inode_item,0),size,6).
state(5,k(261,inode_item,0),flags,0).
change(5,k(261,extent_data,0),object,null,present).
change(5,k(261,extent_data,0),type,null,prealloc).
change(5,k(261,extent_data,0),ram_bytes,null,6).
object(5,k(261,extent_data,0)).
state(5,k(261,extent_data,0),type,prealloc).
state(5,k(261,extent_data,0),ram_bytes,6).
expect(52, 5, k(261,inode_item,0)).
expect(52, 5, k(261,extent_data,0)).

% The target of a link becomes shorter than its size, and that of another one is deleted.
change(5,k(262,extent_data,0),object,present,present).
change(5,k(262,extent_data,0),ram_bytes,6,5).
object(5,k(262,inode_item,0)).
state(5,k(262,inode_item,0),f(mode,s_ifmt),s_iflnk).
state(5,k(262,inode_item,0),nlink,1).
state(5,k(262,inode_item,0),size,6).
object(5,k(262,extent_data,0)).
state(5,k(262,extent_data,0),type,inline).
state(5,k(262,extent_data,0),ram_bytes,5).
change(5,k(263,extent_data,0),object,present,null).
change(5,k(263,extent_data,0),type,inline,null).
change(5,k(263,extent_data,0),ram_bytes,6,null).
object(5,k(263,inode_item,0)).
state(5,k(263,inode_item,0),f(mode,s_ifmt),s_iflnk).
state(5,k(263,inode_item,0),nlink,1).
state(5,k(263,inode_item,0),size,6).
expect(52, 5, k(262,inode_item,0)).
expect(52, 5, k(263,inode_item,0)).
