% The leaf of two file extents has FULL_BACKREF. The extent of one of them has no reference of the
% leaf; the reference of the file, which stands for another leaf, is not enough.
rule(71).
object(2,k(32768,metadata_item,0)).
state(2,k(32768,metadata_item,0),f(flags,full_backref),1).
object(2,k(65536,extent_data_ref,99)).
object(2,k(131072,shared_data_ref,32768)).
change(5,k(257,extent_data,0),object,null,present).
change(5,k(257,extent_data,0),backref,null,k(65536,extent_data_ref,99)).
object(5,k(257,extent_data,0)).
state(5,k(257,extent_data,0),backref,k(65536,extent_data_ref,99)).
state(5,k(257,extent_data,0),leaf,32768).
expect(71, 5, k(257,extent_data,0)).
change(5,k(257,extent_data,4096),object,null,present).
change(5,k(257,extent_data,4096),backref,null,k(131072,extent_data_ref,98)).
object(5,k(257,extent_data,4096)).
state(5,k(257,extent_data,4096),backref,k(131072,extent_data_ref,98)).
state(5,k(257,extent_data,4096),leaf,32768).
