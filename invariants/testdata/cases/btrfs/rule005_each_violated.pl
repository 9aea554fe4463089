% A file extent becomes longer than its extent. Another changes to an extent of another length.
rule(5).
change(5,k(257,extent_data,0),object,present,present).
change(5,k(257,extent_data,0),disk_num_bytes,4096,8192).
object(5,k(257,extent_data,0)).
state(5,k(257,extent_data,0),disk_num_bytes,8192).
state(5,k(257,extent_data,0),disk_bytenr,65536).
object(2,k(65536,extent_item,4096)).
change(5,k(258,extent_data,0),object,present,present).
change(5,k(258,extent_data,0),disk_bytenr,65536,131072).
object(5,k(258,extent_data,0)).
state(5,k(258,extent_data,0),disk_bytenr,131072).
state(5,k(258,extent_data,0),disk_num_bytes,4096).
object(2,k(131072,extent_item,8192)).
expect(5, 5, k(257,extent_data,0)).
expect(5, 5, k(258,extent_data,0)).

% The subvolume with the highest number.
