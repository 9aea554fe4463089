% The file extent that is added with the reference is in a leaf with FULL_BACKREF, and so counts for
% the leaf.
rule(10).
object(2,k(32768,metadata_item,0)).
state(2,k(32768,metadata_item,0),f(flags,full_backref),1).
change(2,k(65536,extent_data_ref,99),object,null,present).
object(2,k(65536,extent_data_ref,99)).
state(2,k(65536,extent_data_ref,99),root,5).
state(2,k(65536,extent_data_ref,99),objectid,257).
state(2,k(65536,extent_data_ref,99),offset,0).
object(1,k(5,root_item,0)).
state(1,k(5,root_item,0),refs,1).
change(5,k(257,extent_data,0),object,null,present).
change(5,k(257,extent_data,0),backref,null,k(65536,extent_data_ref,99)).
object(5,k(257,extent_data,0)).
state(5,k(257,extent_data,0),backref,k(65536,extent_data_ref,99)).
state(5,k(257,extent_data,0),leaf,32768).
expect(10, 2, k(65536,extent_data_ref,99)).

% The same in a leaf without FULL_BACKREF.
object(2,k(49152,metadata_item,0)).
state(2,k(49152,metadata_item,0),f(flags,full_backref),0).
change(2,k(131072,extent_data_ref,99),object,null,present).
object(2,k(131072,extent_data_ref,99)).
state(2,k(131072,extent_data_ref,99),root,5).
state(2,k(131072,extent_data_ref,99),objectid,258).
state(2,k(131072,extent_data_ref,99),offset,0).
change(5,k(258,extent_data,0),object,null,present).
change(5,k(258,extent_data,0),backref,null,k(131072,extent_data_ref,99)).
object(5,k(258,extent_data,0)).
state(5,k(258,extent_data,0),backref,k(131072,extent_data_ref,99)).
state(5,k(258,extent_data,0),leaf,49152).
