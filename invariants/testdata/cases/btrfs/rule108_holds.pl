% A log gives names in directories: of the log, of the subvolume, and in one that neither has. The
% subvolume's inode of the first was another one, which the log replaces.
rule(108).
object(0,k(0,super_block,0)).
state(0,k(0,super_block,0),log_of,256).
change(-6,k(257,inode_ref,a(258,2)),object,null,present).
object(-6,k(257,inode_ref,a(258,2))).
object(-6,k(258,inode_item,0)).
state(-6,k(258,inode_item,0),f(mode,s_ifmt),s_ifdir).
object(256,k(258,inode_item,0)).
state(256,k(258,inode_item,0),f(mode,s_ifmt),s_ifreg).
change(-6,k(257,inode_extref,a(259,3)),object,null,present).
object(-6,k(257,inode_extref,a(259,3))).
object(256,k(259,inode_item,0)).
state(256,k(259,inode_item,0),f(mode,s_ifmt),s_ifdir).
change(-6,k(257,inode_ref,a(260,4)),object,null,present).
object(-6,k(257,inode_ref,a(260,4))).
expect_none.
