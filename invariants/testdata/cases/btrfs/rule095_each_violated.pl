% A file in a log has each kind of item that only a directory has.
rule(95).
object(-6,k(257,inode_item,0)).
state(-6,k(257,inode_item,0),f(mode,s_ifmt),s_ifreg).
change(-6,k(257,dir_item,5),object,null,present).
object(-6,k(257,dir_item,5)).
change(-6,k(257,dir_index,5),object,null,present).
object(-6,k(257,dir_index,5)).
change(-6,k(257,dir_log_item,5),object,null,present).
object(-6,k(257,dir_log_item,5)).
change(-6,k(257,dir_log_index,5),object,null,present).
object(-6,k(257,dir_log_index,5)).
expect(95, -6, k(257,dir_item,5)).
expect(95, -6, k(257,dir_index,5)).
expect(95, -6, k(257,dir_log_item,5)).
expect(95, -6, k(257,dir_log_index,5)).
