% A reference is replaced by that of another file with the same hash, whose count is too high by
% one.
rule(7).
change(2,k(65536,extent_data_ref,99),object,present,present).
change(2,k(65536,extent_data_ref,99),root,5,256).
change(2,k(65536,extent_data_ref,99),objectid,257,258).
change(2,k(65536,extent_data_ref,99),offset,0,4096).
change(2,k(65536,extent_data_ref,99),count,1,2).
object(2,k(65536,extent_data_ref,99)).
state(2,k(65536,extent_data_ref,99),root,256).
state(2,k(65536,extent_data_ref,99),objectid,258).
state(2,k(65536,extent_data_ref,99),offset,4096).
state(2,k(65536,extent_data_ref,99),count,2).
change(5,k(257,extent_data,0),object,present,null).
change(5,k(257,extent_data,0),backref,k(65536,extent_data_ref,99),null).
change(256,k(258,extent_data,4096),object,null,present).
change(256,k(258,extent_data,4096),backref,null,k(65536,extent_data_ref,99)).
object(256,k(258,extent_data,4096)).
state(256,k(258,extent_data,4096),backref,k(65536,extent_data_ref,99)).
object(1,k(256,root_item,0)).
state(1,k(256,root_item,0),refs,1).
object(1,k(5,root_item,0)).
state(1,k(5,root_item,0),refs,1).
expect(7, 2, k(65536,extent_data_ref,99)).
