% An extent reaches a sector into the next one.
rule(55).
change(5,k(257,extent_data,4096),object,null,present).
object(5,k(257,extent_data,0)).
state(5,k(257,extent_data,0),end,4096).
object(5,k(257,extent_data,4096)).
state(5,k(257,extent_data,4096),end,16384).
object(5,k(257,extent_data,12288)).
state(5,k(257,extent_data,12288),end,16384).
expect(55, 5, k(257,extent_data,4096)).
