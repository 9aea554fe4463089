% Nothing is compressed: Linux frees the extent and updates the inode in one transaction.
rule(24).
object(0,k(0,super_block,0)).
state(0,k(0,super_block,0),sectorsize,4096).
object(5,k(257,inode_item,0)).
state(5,k(257,inode_item,0),f(mode,s_ifmt),s_ifreg).
state(5,k(257,inode_item,0),nlink,1).
state(5,k(257,inode_item,0),nbytes,6896).
object(5,k(257,extent_data,0)).
state(5,k(257,extent_data,0),type,inline).
state(5,k(257,extent_data,0),compression,0).
state(5,k(257,extent_data,0),nbytes,2800).
change(5,k(257,extent_data,4096),object,present,null).
change(5,k(257,extent_data,4096),nbytes,4096,null).
expect(24, 5, k(257,inode_item,0)).

% The file has an extent behind the compressed data.
object(5,k(258,inode_item,0)).
state(5,k(258,inode_item,0),f(mode,s_ifmt),s_ifreg).
state(5,k(258,inode_item,0),nlink,1).
state(5,k(258,inode_item,0),nbytes,10992).
object(5,k(258,extent_data,0)).
state(5,k(258,extent_data,0),type,inline).
state(5,k(258,extent_data,0),compression,1).
state(5,k(258,extent_data,0),nbytes,2800).
object(5,k(258,extent_data,4096)).
state(5,k(258,extent_data,4096),nbytes,4096).
change(5,k(258,extent_data,8192),object,present,null).
change(5,k(258,extent_data,8192),nbytes,4096,null).
expect(24, 5, k(258,inode_item,0)).

% What nbytes has too many is no whole sector, and it has too few.
object(5,k(259,inode_item,0)).
state(5,k(259,inode_item,0),f(mode,s_ifmt),s_ifreg).
state(5,k(259,inode_item,0),nlink,1).
state(5,k(259,inode_item,0),nbytes,2801).
object(5,k(259,extent_data,0)).
state(5,k(259,extent_data,0),type,inline).
state(5,k(259,extent_data,0),compression,1).
state(5,k(259,extent_data,0),nbytes,2800).
change(5,k(259,inode_item,0),object,present,present).
change(5,k(259,inode_item,0),nbytes,2800,2801).
expect(24, 5, k(259,inode_item,0)).
object(5,k(260,inode_item,0)).
state(5,k(260,inode_item,0),f(mode,s_ifmt),s_ifreg).
state(5,k(260,inode_item,0),nlink,1).
state(5,k(260,inode_item,0),nbytes,1).
object(5,k(260,extent_data,0)).
state(5,k(260,extent_data,0),type,inline).
state(5,k(260,extent_data,0),compression,1).
state(5,k(260,extent_data,0),nbytes,2800).
change(5,k(260,inode_item,0),object,present,present).
change(5,k(260,inode_item,0),nbytes,4097,1).
expect(24, 5, k(260,inode_item,0)).

% Two of the file's extents go, and nbytes loses one.
object(5,k(261,inode_item,0)).
state(5,k(261,inode_item,0),f(mode,s_ifmt),s_ifreg).
state(5,k(261,inode_item,0),nlink,1).
state(5,k(261,inode_item,0),nbytes,8192).
object(5,k(261,extent_data,0)).
state(5,k(261,extent_data,0),nbytes,4096).
change(5,k(261,inode_item,0),object,present,present).
change(5,k(261,inode_item,0),nbytes,12288,8192).
change(5,k(261,extent_data,4096),object,present,null).
change(5,k(261,extent_data,4096),nbytes,4096,null).
change(5,k(261,extent_data,8192),object,present,null).
change(5,k(261,extent_data,8192),nbytes,4096,null).
expect(24, 5, k(261,inode_item,0)).

% The compressed data has an extent of its own, which Linux cuts with the inode.
object(5,k(262,inode_item,0)).
state(5,k(262,inode_item,0),f(mode,s_ifmt),s_ifreg).
state(5,k(262,inode_item,0),nlink,1).
state(5,k(262,inode_item,0),nbytes,8192).
object(5,k(262,extent_data,0)).
state(5,k(262,extent_data,0),compression,1).
state(5,k(262,extent_data,0),nbytes,4096).
change(5,k(262,extent_data,4096),object,present,null).
change(5,k(262,extent_data,4096),nbytes,4096,null).
expect(24, 5, k(262,inode_item,0)).

% A sector is missing in nbytes.
object(5,k(263,inode_item,0)).
state(5,k(263,inode_item,0),f(mode,s_ifmt),s_ifreg).
state(5,k(263,inode_item,0),nlink,1).
state(5,k(263,inode_item,0),nbytes,4096).
object(5,k(263,extent_data,0)).
state(5,k(263,extent_data,0),nbytes,8192).
change(5,k(263,inode_item,0),object,present,present).
change(5,k(263,inode_item,0),nbytes,8192,4096).
expect(24, 5, k(263,inode_item,0)).
