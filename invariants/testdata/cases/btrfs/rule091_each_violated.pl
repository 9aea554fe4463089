% A file is removed from the log, and its data stays.
rule(91).
change(-6,k(257,inode_item,0),object,present,null).
object(-6,k(257,extent_data,0)).
expect(91, -6, k(257,extent_data,0)).
