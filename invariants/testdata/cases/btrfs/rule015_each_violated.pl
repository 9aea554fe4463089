% Only the size of a directory changes; or only its entries: one is added, one is removed.
rule(15).
change(5,k(257,inode_item,0),object,present,present).
change(5,k(257,inode_item,0),size,10,12).
object(5,k(257,inode_item,0)).
state(5,k(257,inode_item,0),size,12).
state(5,k(257,inode_item,0),f(mode,s_ifmt),s_ifdir).
state(5,k(257,inode_item,0),nlink,1).
object(5,k(258,inode_item,0)).
state(5,k(258,inode_item,0),f(mode,s_ifmt),s_ifdir).
state(5,k(258,inode_item,0),nlink,1).
change(5,k(258,dir_item,7),object,null,present).
change(5,k(258,dir_item,7),name_len,null,3).
object(5,k(258,dir_item,7)).
state(5,k(258,dir_item,7),name_len,3).
change(5,k(258,dir_index,2),object,null,present).
change(5,k(258,dir_index,2),name_len,null,3).
object(5,k(258,dir_index,2)).
state(5,k(258,dir_index,2),name_len,3).
object(5,k(259,inode_item,0)).
state(5,k(259,inode_item,0),f(mode,s_ifmt),s_ifdir).
state(5,k(259,inode_item,0),nlink,1).
change(5,k(259,dir_item,7),object,present,null).
change(5,k(259,dir_item,7),name_len,3,null).
change(5,k(259,dir_index,2),object,present,null).
change(5,k(259,dir_index,2),name_len,3,null).
expect(15, 5, k(257,inode_item,0)).
expect(15, 5, k(258,inode_item,0)).
expect(15, 5, k(259,inode_item,0)).

% Two dir_items are added and no dir_index, and the size fits them; and the reverse.
change(5,k(260,inode_item,0),object,present,present).
change(5,k(260,inode_item,0),size,0,6).
object(5,k(260,inode_item,0)).
state(5,k(260,inode_item,0),size,6).
state(5,k(260,inode_item,0),f(mode,s_ifmt),s_ifdir).
state(5,k(260,inode_item,0),nlink,1).
change(5,k(260,dir_item,7),object,null,present).
change(5,k(260,dir_item,7),name_len,null,3).
object(5,k(260,dir_item,7)).
state(5,k(260,dir_item,7),name_len,3).
change(5,k(260,dir_item,8),object,null,present).
change(5,k(260,dir_item,8),name_len,null,3).
object(5,k(260,dir_item,8)).
state(5,k(260,dir_item,8),name_len,3).
change(5,k(261,inode_item,0),object,present,present).
change(5,k(261,inode_item,0),size,6,0).
object(5,k(261,inode_item,0)).
state(5,k(261,inode_item,0),size,0).
state(5,k(261,inode_item,0),f(mode,s_ifmt),s_ifdir).
state(5,k(261,inode_item,0),nlink,1).
change(5,k(261,dir_index,7),object,present,null).
change(5,k(261,dir_index,7),name_len,3,null).
change(5,k(261,dir_index,8),object,present,null).
change(5,k(261,dir_index,8),name_len,3,null).
expect(15, 5, k(260,inode_item,0)).
expect(15, 5, k(261,inode_item,0)).

% The nbytes of a directory is not 0: of a subdirectory, and of a root directory that mkfs did not
% make.
object(0,k(0,super_block,0)).
state(0,k(0,super_block,0),nodesize,16384).
change(5,k(262,inode_item,0),object,present,present).
change(5,k(262,inode_item,0),nbytes,0,16384).
object(5,k(262,inode_item,0)).
state(5,k(262,inode_item,0),nbytes,16384).
state(5,k(262,inode_item,0),f(mode,s_ifmt),s_ifdir).
state(5,k(262,inode_item,0),nlink,1).
change(300,k(256,inode_item,0),object,present,present).
change(300,k(256,inode_item,0),nbytes,0,1).
object(300,k(256,inode_item,0)).
state(300,k(256,inode_item,0),nbytes,1).
state(300,k(256,inode_item,0),f(mode,s_ifmt),s_ifdir).
state(300,k(256,inode_item,0),nlink,1).
expect(15, 5, k(262,inode_item,0)).
expect(15, 300, k(256,inode_item,0)).
