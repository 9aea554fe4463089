% A file with data turns into a pipe.
rule(20).
change(5,k(257,inode_item,0),object,present,present).
change(5,k(257,inode_item,0),f(mode,s_ifmt),s_ifreg,s_ififo).
object(5,k(257,inode_item,0)).
state(5,k(257,inode_item,0),f(mode,s_ifmt),s_ififo).
object(5,k(257,extent_data,0)).
expect(20, 5, k(257,inode_item,0)).
