% An extent of a file in a log becomes longer; the next begins before its end.
rule(94).
change(-6,k(257,extent_data,0),object,present,present).
change(-6,k(257,extent_data,0),num_bytes,2048,8192).

object(-6,k(257,extent_data,4096)).
state(-6,k(257,extent_data,4096),num_bytes,4096).
object(-6,k(257,extent_data,0)).
state(-6,k(257,extent_data,0),num_bytes,8192).
expect(94, -6, k(257,extent_data,0)).
