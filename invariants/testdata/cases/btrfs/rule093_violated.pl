% A log has a new extent that begins within one of the last commit.
rule(93).
change(-6,k(257,extent_data,0),object,null,present).
change(-6,k(257,extent_data,0),disk_bytenr,null,1060864).
change(-6,k(257,extent_data,0),disk_num_bytes,null,4096).

object(2,k(1048576,extent_item,16384)).
object(-6,k(257,extent_data,0)).
state(-6,k(257,extent_data,0),disk_bytenr,1060864).
state(-6,k(257,extent_data,0),disk_num_bytes,4096).
expect(93, -6, k(257,extent_data,0)).
