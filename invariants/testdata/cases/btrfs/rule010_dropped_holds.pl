% Balance moves an extent of a subvolume that is being dropped, and its reference with it.
rule(10).
change(2,k(65536,extent_data_ref,99),object,null,present).
change(2,k(65536,extent_data_ref,99),root,null,300).
change(2,k(65536,extent_data_ref,99),objectid,null,257).
change(2,k(65536,extent_data_ref,99),offset,null,0).
change(2,k(65536,extent_data_ref,99),count,null,1).
object(2,k(65536,extent_data_ref,99)).
state(2,k(65536,extent_data_ref,99),root,300).
state(2,k(65536,extent_data_ref,99),objectid,257).
state(2,k(65536,extent_data_ref,99),offset,0).
state(2,k(65536,extent_data_ref,99),count,1).
object(1,k(300,root_item,0)).
state(1,k(300,root_item,0),refs,0).
expect_none.
