% An extent is added to a file in a log that begins before the one before it ends.
rule(94).
object(-6,k(257,extent_data,0)).
state(-6,k(257,extent_data,0),num_bytes,8192).
change(-6,k(257,extent_data,4096),object,null,present).
change(-6,k(257,extent_data,4096),num_bytes,null,4096).
object(-6,k(257,extent_data,4096)).
state(-6,k(257,extent_data,4096),num_bytes,4096).
expect(94, -6, k(257,extent_data,4096)).
