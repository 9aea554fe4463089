% A log has a file with a name, as fsync of a new file leaves it.
rule(91).
change(-6,k(257,inode_item,0),object,null,present).
change(-6,k(257,inode_item,0),nlink,null,1).
change(-6,k(257,inode_ref,a(256,2)),object,null,present).
change(-6,k(257,inode_ref,a(256,2)),name,null,'f').

object(-6,k(257,inode_item,0)).
state(-6,k(257,inode_item,0),nlink,1).
object(-6,k(257,inode_ref,a(256,2))).
state(-6,k(257,inode_ref,a(256,2)),name,'f').
expect_none.
