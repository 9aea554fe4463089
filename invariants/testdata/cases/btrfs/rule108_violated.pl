% A log gives names in a file: in one of the log, and in one of the subvolume.
rule(108).
object(0,k(0,super_block,0)).
state(0,k(0,super_block,0),log_of,256).
change(-6,k(257,inode_ref,a(258,2)),object,null,present).
object(-6,k(257,inode_ref,a(258,2))).
object(-6,k(258,inode_item,0)).
state(-6,k(258,inode_item,0),f(mode,s_ifmt),s_ifreg).
object(256,k(258,inode_item,0)).
state(256,k(258,inode_item,0),f(mode,s_ifmt),s_ifdir).
change(-6,k(257,inode_extref,a(259,3)),object,null,present).
object(-6,k(257,inode_extref,a(259,3))).
object(256,k(259,inode_item,0)).
state(256,k(259,inode_item,0),f(mode,s_ifmt),s_ifreg).
expect(108, -6, k(257,inode_ref,a(258,2))).
expect(108, -6, k(257,inode_extref,a(259,3))).
