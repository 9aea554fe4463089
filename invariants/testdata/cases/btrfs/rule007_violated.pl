% A second file extent, and the count grows by two.
rule(7).
change(2,k(65536,extent_data_ref,99),count,1,3).
change(5,k(257,extent_data,4096),backref,null,k(65536,extent_data_ref,99)).
object(2,k(65536,extent_data_ref,99)).
state(2,k(65536,extent_data_ref,99),root,5).
state(2,k(65536,extent_data_ref,99),objectid,257).
state(2,k(65536,extent_data_ref,99),offset,0).
state(2,k(65536,extent_data_ref,99),count,3).
object(1,k(5,root_item,0)).
state(1,k(5,root_item,0),refs,1).
object(5,k(257,extent_data,0)).
state(5,k(257,extent_data,0),backref,k(65536,extent_data_ref,99)).
state(5,k(257,extent_data,0),leaf,32768).
object(5,k(257,extent_data,4096)).
state(5,k(257,extent_data,4096),backref,k(65536,extent_data_ref,99)).
state(5,k(257,extent_data,4096),leaf,32768).
expect(7, 2, k(65536,extent_data_ref,99)).
