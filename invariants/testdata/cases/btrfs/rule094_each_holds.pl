% An extent is added where the one before it ends. Another file starts at offset 0.
rule(94).
object(-6,k(257,extent_data,0)).
state(-6,k(257,extent_data,0),num_bytes,4096).
change(-6,k(257,extent_data,4096),object,null,present).
change(-6,k(257,extent_data,4096),num_bytes,null,4096).
object(-6,k(257,extent_data,4096)).
state(-6,k(257,extent_data,4096),num_bytes,4096).
object(-6,k(258,extent_data,0)).
state(-6,k(258,extent_data,0),num_bytes,8192).
object(-6,k(259,extent_data,4096)).
state(-6,k(259,extent_data,4096),num_bytes,8192).
change(-6,k(260,extent_data,0),object,null,present).
change(-6,k(260,extent_data,0),num_bytes,null,4096).
object(-6,k(260,extent_data,0)).
state(-6,k(260,extent_data,0),num_bytes,4096).
expect_none.
