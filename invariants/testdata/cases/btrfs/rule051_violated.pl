% A file has an rdev other than 0.
rule(51).
change(5,k(257,inode_item,0),object,null,present).
change(5,k(257,inode_item,0),rdev,null,259).
object(5,k(257,inode_item,0)).
state(5,k(257,inode_item,0),f(mode,s_ifmt),s_ifreg).
expect(51, 5, k(257,inode_item,0)).
