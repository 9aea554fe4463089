% A file extent is added in a leaf with FULL_BACKREF: the extent has a reference of the leaf, and
% none of the file.
rule(10).
object(1,k(5,root_item,0)).
state(1,k(5,root_item,0),refs,1).
object(2,k(32768,metadata_item,0)).
state(2,k(32768,metadata_item,0),f(flags,full_backref),1).
change(5,k(257,extent_data,0),object,null,present).
change(5,k(257,extent_data,0),backref,null,k(65536,extent_data_ref,99)).
object(5,k(257,extent_data,0)).
state(5,k(257,extent_data,0),backref,k(65536,extent_data_ref,99)).
state(5,k(257,extent_data,0),leaf,32768).

% Another file extent of the file is in a leaf without FULL_BACKREF. The reference stands for this
% one.
object(2,k(49152,metadata_item,0)).
state(2,k(49152,metadata_item,0),f(flags,full_backref),0).
object(2,k(131072,extent_data_ref,99)).
state(2,k(131072,extent_data_ref,99),root,5).
state(2,k(131072,extent_data_ref,99),objectid,258).
state(2,k(131072,extent_data_ref,99),offset,0).
change(5,k(258,extent_data,0),object,null,present).
change(5,k(258,extent_data,0),backref,null,k(131072,extent_data_ref,99)).
object(5,k(258,extent_data,0)).
state(5,k(258,extent_data,0),backref,k(131072,extent_data_ref,99)).
state(5,k(258,extent_data,0),leaf,32768).
object(5,k(258,extent_data,4096)).
state(5,k(258,extent_data,4096),backref,k(131072,extent_data_ref,99)).
state(5,k(258,extent_data,4096),leaf,49152).

% For a file extent in a leaf without FULL_BACKREF, the rule does not ask whether the tree of the
% reference has the leaf.
object(2,k(196608,extent_data_ref,99)).
state(2,k(196608,extent_data_ref,99),root,5).
state(2,k(196608,extent_data_ref,99),objectid,259).
state(2,k(196608,extent_data_ref,99),offset,0).
change(256,k(259,extent_data,0),object,null,present).
change(256,k(259,extent_data,0),backref,null,k(196608,extent_data_ref,99)).
object(256,k(259,extent_data,0)).
state(256,k(259,extent_data,0),backref,k(196608,extent_data_ref,99)).
state(256,k(259,extent_data,0),leaf,49152).
expect_none.
