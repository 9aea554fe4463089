% A block device has an rdev, and a file the rdev 0.
rule(51).
change(5,k(257,inode_item,0),object,null,present).
change(5,k(257,inode_item,0),f(mode,s_ifmt),null,s_ifblk).
change(5,k(257,inode_item,0),rdev,null,259).
object(5,k(257,inode_item,0)).
state(5,k(257,inode_item,0),f(mode,s_ifmt),s_ifblk).
state(5,k(257,inode_item,0),rdev,259).
change(5,k(258,inode_item,0),object,null,present).
change(5,k(258,inode_item,0),f(mode,s_ifmt),null,s_ifreg).
change(5,k(258,inode_item,0),rdev,null,0).
object(5,k(258,inode_item,0)).
state(5,k(258,inode_item,0),f(mode,s_ifmt),s_ifreg).
state(5,k(258,inode_item,0),rdev,0).
expect_none.
