% A hole leads to no extent.
rule(5).
change(5,k(257,extent_data,0),object,null,present).
change(5,k(257,extent_data,0),disk_bytenr,null,0).
change(5,k(257,extent_data,0),disk_num_bytes,null,0).
object(5,k(257,extent_data,0)).
state(5,k(257,extent_data,0),disk_bytenr,0).
state(5,k(257,extent_data,0),disk_num_bytes,0).

% An extent that was synced to the log gets its item when the log is replayed.
change(-6,k(258,extent_data,0),object,null,present).
change(-6,k(258,extent_data,0),disk_bytenr,null,65536).
change(-6,k(258,extent_data,0),disk_num_bytes,null,4096).
object(-6,k(258,extent_data,0)).
state(-6,k(258,extent_data,0),disk_bytenr,65536).
state(-6,k(258,extent_data,0),disk_num_bytes,4096).
expect_none.
