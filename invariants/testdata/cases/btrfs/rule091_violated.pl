% A log has the name of a file and not the file.
rule(91).
change(-6,k(257,inode_ref,a(256,2)),object,null,present).
change(-6,k(257,inode_ref,a(256,2)),name,null,'f').

object(-6,k(257,inode_ref,a(256,2))).
state(-6,k(257,inode_ref,a(256,2)),name,'f').
expect(91, -6, k(257,inode_ref,a(256,2))).
