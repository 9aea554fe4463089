% A file in a log has data and an extended attribute, whose type and location mean nothing.
rule(95).
change(-6,k(257,inode_item,0),object,null,present).
change(-6,k(257,inode_item,0),f(mode,s_ifmt),null,s_ifreg).
object(-6,k(257,inode_item,0)).
state(-6,k(257,inode_item,0),f(mode,s_ifmt),s_ifreg).
change(-6,k(257,extent_data,0),object,null,present).
object(-6,k(257,extent_data,0)).
change(-6,k(257,xattr_item,5),object,null,present).
change(-6,k(257,xattr_item,5),location,null,k(257,inode_item,0)).
change(-6,k(257,xattr_item,5),type,null,s_ifdir).
object(-6,k(257,xattr_item,5)).
state(-6,k(257,xattr_item,5),location,k(257,inode_item,0)).
state(-6,k(257,xattr_item,5),type,s_ifdir).

% The inode of an entry is not in the log.
change(-6,k(256,inode_item,0),object,null,present).
change(-6,k(256,inode_item,0),f(mode,s_ifmt),null,s_ifdir).
object(-6,k(256,inode_item,0)).
state(-6,k(256,inode_item,0),f(mode,s_ifmt),s_ifdir).
change(-6,k(256,dir_index,2),object,null,present).
change(-6,k(256,dir_index,2),location,null,k(258,inode_item,0)).
change(-6,k(256,dir_index,2),type,null,s_ifreg).
object(-6,k(256,dir_index,2)).
state(-6,k(256,dir_index,2),location,k(258,inode_item,0)).
state(-6,k(256,dir_index,2),type,s_ifreg).
expect_none.
