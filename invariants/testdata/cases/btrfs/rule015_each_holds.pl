% A file grows, and a new file has a name and a size.
rule(15).
change(5,k(257,inode_item,0),object,present,present).
change(5,k(257,inode_item,0),size,10,12).
change(5,k(257,inode_item,0),nbytes,10,12).
object(5,k(257,inode_item,0)).
state(5,k(257,inode_item,0),size,12).
state(5,k(257,inode_item,0),nbytes,12).
state(5,k(257,inode_item,0),f(mode,s_ifmt),s_ifreg).
state(5,k(257,inode_item,0),nlink,1).
change(5,k(258,inode_item,0),object,null,present).
change(5,k(258,inode_item,0),size,null,5).
change(5,k(258,inode_item,0),f(mode,s_ifmt),null,s_ifreg).
change(5,k(258,inode_item,0),nlink,null,1).
object(5,k(258,inode_item,0)).
state(5,k(258,inode_item,0),size,5).
state(5,k(258,inode_item,0),f(mode,s_ifmt),s_ifreg).
state(5,k(258,inode_item,0),nlink,1).
change(5,k(258,inode_ref,a(256,2)),object,null,present).
change(5,k(258,inode_ref,a(256,2)),name_len,null,3).
object(5,k(258,inode_ref,a(256,2))).
state(5,k(258,inode_ref,a(256,2)),name_len,3).

% A directory without a name: only its entries are removed, or only its size changes.
object(5,k(259,inode_item,0)).
state(5,k(259,inode_item,0),f(mode,s_ifmt),s_ifdir).
state(5,k(259,inode_item,0),nlink,0).
change(5,k(259,dir_item,7),object,present,null).
change(5,k(259,dir_item,7),name_len,3,null).
change(5,k(259,dir_index,2),object,present,null).
change(5,k(259,dir_index,2),name_len,3,null).
change(5,k(260,inode_item,0),object,present,present).
change(5,k(260,inode_item,0),size,10,0).
object(5,k(260,inode_item,0)).
state(5,k(260,inode_item,0),size,0).
state(5,k(260,inode_item,0),f(mode,s_ifmt),s_ifdir).
state(5,k(260,inode_item,0),nlink,0).

% Rule 12, not this one, judges entries without an inode.
change(5,k(261,dir_item,7),object,null,present).
change(5,k(261,dir_item,7),name_len,null,3).
object(5,k(261,dir_item,7)).
state(5,k(261,dir_item,7),name_len,3).
change(5,k(261,dir_index,2),object,null,present).
change(5,k(261,dir_index,2),name_len,null,3).
object(5,k(261,dir_index,2)).
state(5,k(261,dir_index,2),name_len,3).

% mkfs.btrfs sets the nbytes of a root directory to nodesize. The nbytes of another directory
% becomes 0.
object(0,k(0,super_block,0)).
state(0,k(0,super_block,0),nodesize,16384).
change(300,k(256,inode_item,0),object,null,present).
change(300,k(256,inode_item,0),nbytes,null,16384).
change(300,k(256,inode_item,0),f(mode,s_ifmt),null,s_ifdir).
change(300,k(256,inode_item,0),nlink,null,1).
object(300,k(256,inode_item,0)).
state(300,k(256,inode_item,0),nbytes,16384).
state(300,k(256,inode_item,0),f(mode,s_ifmt),s_ifdir).
state(300,k(256,inode_item,0),nlink,1).
change(5,k(262,inode_item,0),object,present,present).
change(5,k(262,inode_item,0),nbytes,4096,0).
object(5,k(262,inode_item,0)).
state(5,k(262,inode_item,0),nbytes,0).
state(5,k(262,inode_item,0),f(mode,s_ifmt),s_ifdir).
state(5,k(262,inode_item,0),nlink,1).

% A directory loses an entry of two letters and gets one of three.
change(5,k(263,inode_item,0),object,present,present).
change(5,k(263,inode_item,0),size,4,6).
object(5,k(263,inode_item,0)).
state(5,k(263,inode_item,0),size,6).
state(5,k(263,inode_item,0),f(mode,s_ifmt),s_ifdir).
state(5,k(263,inode_item,0),nlink,1).
change(5,k(263,dir_item,7),object,present,null).
change(5,k(263,dir_item,7),name_len,2,null).
change(5,k(263,dir_index,2),object,present,null).
change(5,k(263,dir_index,2),name_len,2,null).
change(5,k(263,dir_item,8),object,null,present).
change(5,k(263,dir_item,8),name_len,null,3).
object(5,k(263,dir_item,8)).
state(5,k(263,dir_item,8),name_len,3).
change(5,k(263,dir_index,3),object,null,present).
change(5,k(263,dir_index,3),name_len,null,3).
object(5,k(263,dir_index,3)).
state(5,k(263,dir_index,3),name_len,3).

% A file gets a new name as long as the old one: the size does not change.
object(5,k(264,inode_item,0)).
state(5,k(264,inode_item,0),f(mode,s_ifmt),s_ifdir).
state(5,k(264,inode_item,0),nlink,1).
change(5,k(264,dir_item,7),object,present,null).
change(5,k(264,dir_item,7),name_len,3,null).
change(5,k(264,dir_index,2),object,present,null).
change(5,k(264,dir_index,2),name_len,3,null).
change(5,k(264,dir_item,8),object,null,present).
change(5,k(264,dir_item,8),name_len,null,3).
object(5,k(264,dir_item,8)).
state(5,k(264,dir_item,8),name_len,3).
change(5,k(264,dir_index,3),object,null,present).
change(5,k(264,dir_index,3),name_len,null,3).
object(5,k(264,dir_index,3)).
state(5,k(264,dir_index,3),name_len,3).
expect_none.
