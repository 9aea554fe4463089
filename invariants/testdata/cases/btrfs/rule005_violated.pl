% The extent is longer than the disk_num_bytes of the file extent.
rule(5).
change(5,k(257,extent_data,0),disk_bytenr,null,65536).
change(5,k(257,extent_data,0),disk_num_bytes,null,4096).
object(5,k(257,extent_data,0)).
state(5,k(257,extent_data,0),disk_bytenr,65536).
state(5,k(257,extent_data,0),disk_num_bytes,4096).
object(2,k(65536,extent_item,8192)).
expect(5, 5, k(257,extent_data,0)).
