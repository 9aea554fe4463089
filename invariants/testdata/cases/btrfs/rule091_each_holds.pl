% A log has checksums. A file is removed from it with its data.
rule(91).
change(-6,k(-10,extent_csum,1048576),object,null,present).
change(-6,k(-10,extent_csum,1048576),nsums,null,4).
object(-6,k(-10,extent_csum,1048576)).
state(-6,k(-10,extent_csum,1048576),nsums,4).
change(-6,k(257,inode_item,0),object,present,null).
change(-6,k(257,extent_data,0),object,present,null).
expect_none.
