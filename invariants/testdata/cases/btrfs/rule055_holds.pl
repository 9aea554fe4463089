% An extent fills the gap between two.
rule(55).
change(5,k(257,extent_data,4096),object,null,present).
object(5,k(257,extent_data,0)).
state(5,k(257,extent_data,0),end,4096).
object(5,k(257,extent_data,4096)).
state(5,k(257,extent_data,4096),end,12288).
object(5,k(257,extent_data,12288)).
state(5,k(257,extent_data,12288),end,16384).
expect_none.
