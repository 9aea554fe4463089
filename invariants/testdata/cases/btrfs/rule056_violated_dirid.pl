% The root_dirid of a subvolume is not 256.
rule(56).
change(1,k(256,root_item,0),object,null,present).
change(1,k(256,root_item,0),root_dirid,null,257).
object(1,k(256,root_item,0)).
state(1,k(256,root_item,0),refs,1).
object(256,k(256,inode_item,0)).
state(256,k(256,inode_item,0),f(mode,s_ifmt),s_ifdir).
object(256,k(257,inode_item,0)).
state(256,k(257,inode_item,0),f(mode,s_ifmt),s_ifdir).
expect(56, 1, k(256,root_item,0)).
