% A file is created, gets data that is not inline, and becomes immutable.
rule(52).
change(5,k(257,inode_item,0),object,null,present).
change(5,k(257,inode_item,0),f(mode,s_ifmt),null,s_ifreg).
change(5,k(257,inode_item,0),nlink,null,1).
change(5,k(257,inode_item,0),size,null,4096).
change(5,k(257,inode_item,0),flags,null,64).
object(5,k(257,inode_item,0)).
state(5,k(257,inode_item,0),f(mode,s_ifmt),s_ifreg).
state(5,k(257,inode_item,0),nlink,1).
state(5,k(257,inode_item,0),size,4096).
state(5,k(257,inode_item,0),flags,64).
change(5,k(257,extent_data,0),object,null,present).
change(5,k(257,extent_data,0),type,null,data).
change(5,k(257,extent_data,0),ram_bytes,null,4096).
object(5,k(257,extent_data,0)).
state(5,k(257,extent_data,0),type,data).
state(5,k(257,extent_data,0),ram_bytes,4096).

% A link is deleted after its target. A link has no checksums (the mount option nodatasum).
change(5,k(258,inode_item,0),object,present,present).
change(5,k(258,inode_item,0),size,6,0).
object(5,k(258,inode_item,0)).
state(5,k(258,inode_item,0),size,0).
state(5,k(258,inode_item,0),f(mode,s_ifmt),s_iflnk).
state(5,k(258,inode_item,0),nlink,0).
state(5,k(258,inode_item,0),flags,0).
change(5,k(258,extent_data,0),object,present,null).
change(5,k(258,extent_data,0),type,inline,null).
change(5,k(258,extent_data,0),ram_bytes,6,null).
change(5,k(259,inode_item,0),object,null,present).
change(5,k(259,inode_item,0),f(mode,s_ifmt),null,s_iflnk).
change(5,k(259,inode_item,0),nlink,null,1).
change(5,k(259,inode_item,0),size,null,6).
change(5,k(259,inode_item,0),flags,null,1).
object(5,k(259,inode_item,0)).
state(5,k(259,inode_item,0),f(mode,s_ifmt),s_iflnk).
state(5,k(259,inode_item,0),nlink,1).
state(5,k(259,inode_item,0),size,6).
state(5,k(259,inode_item,0),flags,1).
change(5,k(259,extent_data,0),object,null,present).
change(5,k(259,extent_data,0),type,null,inline).
change(5,k(259,extent_data,0),ram_bytes,null,7).
object(5,k(259,extent_data,0)).
state(5,k(259,extent_data,0),type,inline).
state(5,k(259,extent_data,0),ram_bytes,7).

% The data of a file becomes shorter, and so does the target of a link in a log.
change(5,k(260,extent_data,0),object,present,present).
change(5,k(260,extent_data,0),ram_bytes,6,5).
object(5,k(260,inode_item,0)).
state(5,k(260,inode_item,0),f(mode,s_ifmt),s_ifreg).
state(5,k(260,inode_item,0),nlink,1).
state(5,k(260,inode_item,0),size,6).
object(5,k(260,extent_data,0)).
state(5,k(260,extent_data,0),type,inline).
state(5,k(260,extent_data,0),ram_bytes,5).
change(-6,k(261,extent_data,0),object,present,present).
change(-6,k(261,extent_data,0),ram_bytes,6,5).
object(-6,k(261,inode_item,0)).
state(-6,k(261,inode_item,0),f(mode,s_ifmt),s_iflnk).
state(-6,k(261,inode_item,0),nlink,1).
state(-6,k(261,inode_item,0),size,6).
object(-6,k(261,extent_data,0)).
state(-6,k(261,extent_data,0),type,inline).
state(-6,k(261,extent_data,0),ram_bytes,5).

% The target of a link gets a zero byte at its end.
change(5,k(262,extent_data,0),object,present,present).
change(5,k(262,extent_data,0),ram_bytes,6,7).
object(5,k(262,inode_item,0)).
state(5,k(262,inode_item,0),f(mode,s_ifmt),s_iflnk).
state(5,k(262,inode_item,0),nlink,1).
state(5,k(262,inode_item,0),size,6).
object(5,k(262,extent_data,0)).
state(5,k(262,extent_data,0),type,inline).
state(5,k(262,extent_data,0),ram_bytes,7).
expect_none.
