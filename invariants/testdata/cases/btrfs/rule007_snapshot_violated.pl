% One of three file extents is removed, and then the snapshot 257 is made of 256. The count of 256
% shrinks by one for each of the two.
rule(7).
change(2,k(65536,extent_data_ref,99),count,3,1).
change(256,k(257,extent_data,0),object,present,null).
change(256,k(257,extent_data,0),backref,k(65536,extent_data_ref,99),null).
change(257,k(257,extent_data,0),object,present,null).
change(257,k(257,extent_data,0),backref,k(65536,extent_data_ref,99),null).
object(2,k(65536,extent_data_ref,99)).
state(2,k(65536,extent_data_ref,99),root,256).
state(2,k(65536,extent_data_ref,99),objectid,257).
state(2,k(65536,extent_data_ref,99),offset,0).
state(2,k(65536,extent_data_ref,99),count,1).
object(1,k(256,root_item,0)).
state(1,k(256,root_item,0),refs,1).
object(256,k(257,extent_data,4096)).
state(256,k(257,extent_data,4096),backref,k(65536,extent_data_ref,99)).
state(256,k(257,extent_data,4096),leaf,32768).
object(256,k(257,extent_data,8192)).
state(256,k(257,extent_data,8192),backref,k(65536,extent_data_ref,99)).
state(256,k(257,extent_data,8192),leaf,32768).
expect(7, 2, k(65536,extent_data_ref,99)).

% One of two file extents is removed, and the reference to both goes.
change(2,k(131072,extent_data_ref,99),object,present,null).
change(2,k(131072,extent_data_ref,99),root,256,null).
change(2,k(131072,extent_data_ref,99),objectid,258,null).
change(2,k(131072,extent_data_ref,99),offset,0,null).
change(2,k(131072,extent_data_ref,99),count,2,null).
change(256,k(258,extent_data,0),object,present,null).
change(256,k(258,extent_data,0),backref,k(131072,extent_data_ref,99),null).
change(257,k(258,extent_data,0),object,present,null).
change(257,k(258,extent_data,0),backref,k(131072,extent_data_ref,99),null).
object(256,k(258,extent_data,4096)).
state(256,k(258,extent_data,4096),backref,k(131072,extent_data_ref,99)).
state(256,k(258,extent_data,4096),leaf,32768).
expect(7, 2, k(131072,extent_data_ref,99)).
