% A file of the root tree is a directory; two more have modes that let other users read or write
% them.
rule(60).
change(1,k(256,inode_item,0),object,null,present).
change(1,k(256,inode_item,0),f(mode,s_ifmt),null,s_ifdir).
change(1,k(256,inode_item,0),f(mode,perm),null,384).
object(1,k(256,inode_item,0)).
state(1,k(256,inode_item,0),f(mode,s_ifmt),s_ifdir).
state(1,k(256,inode_item,0),f(mode,perm),384).
change(1,k(257,inode_item,0),object,present,present).
change(1,k(257,inode_item,0),f(mode,perm),384,420).
object(1,k(257,inode_item,0)).
state(1,k(257,inode_item,0),f(mode,perm),420).
state(1,k(257,inode_item,0),f(mode,s_ifmt),s_ifreg).
change(1,k(258,inode_item,0),object,present,present).
change(1,k(258,inode_item,0),f(mode,perm),384,385).
object(1,k(258,inode_item,0)).
state(1,k(258,inode_item,0),f(mode,perm),385).
state(1,k(258,inode_item,0),f(mode,s_ifmt),s_ifreg).
expect(60, 1, k(256,inode_item,0)).
expect(60, 1, k(257,inode_item,0)).
expect(60, 1, k(258,inode_item,0)).
