% A second file extent is added, or is removed, and the count of the reference does not change.
rule(7).
object(1,k(5,root_item,0)).
state(1,k(5,root_item,0),refs,1).
object(2,k(65536,extent_data_ref,99)).
state(2,k(65536,extent_data_ref,99),root,5).
state(2,k(65536,extent_data_ref,99),objectid,257).
state(2,k(65536,extent_data_ref,99),offset,0).
state(2,k(65536,extent_data_ref,99),count,1).
object(5,k(257,extent_data,0)).
state(5,k(257,extent_data,0),backref,k(65536,extent_data_ref,99)).
state(5,k(257,extent_data,0),leaf,32768).
change(5,k(257,extent_data,4096),object,null,present).
change(5,k(257,extent_data,4096),backref,null,k(65536,extent_data_ref,99)).
change(5,k(257,extent_data,4096),leaf,null,32768).
object(5,k(257,extent_data,4096)).
state(5,k(257,extent_data,4096),backref,k(65536,extent_data_ref,99)).
state(5,k(257,extent_data,4096),leaf,32768).
object(2,k(131072,extent_data_ref,99)).
state(2,k(131072,extent_data_ref,99),root,5).
state(2,k(131072,extent_data_ref,99),objectid,258).
state(2,k(131072,extent_data_ref,99),offset,0).
state(2,k(131072,extent_data_ref,99),count,2).
object(5,k(258,extent_data,0)).
state(5,k(258,extent_data,0),backref,k(131072,extent_data_ref,99)).
state(5,k(258,extent_data,0),leaf,32768).
change(5,k(258,extent_data,4096),object,present,null).
change(5,k(258,extent_data,4096),backref,k(131072,extent_data_ref,99),null).
change(5,k(258,extent_data,4096),leaf,32768,null).
expect(7, 2, k(65536,extent_data_ref,99)).
expect(7, 2, k(131072,extent_data_ref,99)).

% The reference is removed, and a file extent still needs it.
change(2,k(196608,extent_data_ref,99),object,present,null).
change(2,k(196608,extent_data_ref,99),root,5,null).
change(2,k(196608,extent_data_ref,99),objectid,259,null).
change(2,k(196608,extent_data_ref,99),offset,0,null).
change(2,k(196608,extent_data_ref,99),count,1,null).
object(5,k(259,extent_data,0)).
state(5,k(259,extent_data,0),backref,k(196608,extent_data_ref,99)).
state(5,k(259,extent_data,0),leaf,32768).
expect(7, 2, k(196608,extent_data_ref,99)).

% A file extent whose extent would begin before the beginning of the file.
change(2,k(262144,extent_data_ref,99),object,present,present).
change(2,k(262144,extent_data_ref,99),count,2,1).
object(2,k(262144,extent_data_ref,99)).
state(2,k(262144,extent_data_ref,99),count,1).
state(2,k(262144,extent_data_ref,99),root,5).
state(2,k(262144,extent_data_ref,99),objectid,260).
state(2,k(262144,extent_data_ref,99),offset,18446744073709547520).
object(5,k(260,extent_data,0)).
state(5,k(260,extent_data,0),backref,k(262144,extent_data_ref,99)).
state(5,k(260,extent_data,0),leaf,32768).
object(5,k(260,extent_data,4096)).
state(5,k(260,extent_data,4096),backref,k(262144,extent_data_ref,99)).
state(5,k(260,extent_data,4096),leaf,32768).
expect(7, 2, k(262144,extent_data_ref,99)).

% The root tree uses the extent once more than the count says.
change(2,k(327680,extent_data_ref,99),object,present,present).
change(2,k(327680,extent_data_ref,99),count,3,1).
object(2,k(327680,extent_data_ref,99)).
state(2,k(327680,extent_data_ref,99),count,1).
state(2,k(327680,extent_data_ref,99),root,1).
state(2,k(327680,extent_data_ref,99),objectid,256).
state(2,k(327680,extent_data_ref,99),offset,0).
object(1,k(256,extent_data,0)).
state(1,k(256,extent_data,0),backref,k(327680,extent_data_ref,99)).
state(1,k(256,extent_data,0),leaf,32768).
object(1,k(256,extent_data,4096)).
state(1,k(256,extent_data,4096),backref,k(327680,extent_data_ref,99)).
state(1,k(256,extent_data,4096),leaf,32768).
expect(7, 2, k(327680,extent_data_ref,99)).
