% A snapshot takes over a file extent that did not change.
rule(10).
change(2,k(65536,extent_data_ref,99),object,null,present).
object(2,k(65536,extent_data_ref,99)).
state(2,k(65536,extent_data_ref,99),root,5).
state(2,k(65536,extent_data_ref,99),objectid,257).
state(2,k(65536,extent_data_ref,99),offset,0).
object(1,k(5,root_item,0)).
state(1,k(5,root_item,0),refs,1).
object(5,k(257,extent_data,0)).
state(5,k(257,extent_data,0),backref,k(65536,extent_data_ref,99)).
state(5,k(257,extent_data,0),leaf,32768).
expect_none.
