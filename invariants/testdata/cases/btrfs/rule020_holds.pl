% A file gets data.
rule(20).
change(5,k(257,extent_data,0),object,null,present).
change(5,k(257,extent_data,0),type,null,data).
object(5,k(257,extent_data,0)).
object(5,k(257,inode_item,0)).
state(5,k(257,inode_item,0),f(mode,s_ifmt),s_ifreg).
expect_none.
