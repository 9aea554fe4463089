% There is no file extent.
rule(10).
change(2,k(65536,extent_data_ref,99),object,null,present).
object(2,k(65536,extent_data_ref,99)).
state(2,k(65536,extent_data_ref,99),root,5).
state(2,k(65536,extent_data_ref,99),objectid,257).
state(2,k(65536,extent_data_ref,99),offset,0).
object(1,k(5,root_item,0)).
state(1,k(5,root_item,0),refs,1).
expect(10, 2, k(65536,extent_data_ref,99)).
