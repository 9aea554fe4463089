% The leaf of a file extent has FULL_BACKREF, and the extent has no reference of it.
rule(71).
object(2,k(32768,metadata_item,0)).
state(2,k(32768,metadata_item,0),f(flags,full_backref),1).
object(2,k(65536,shared_data_ref,49152)).
change(5,k(257,extent_data,0),object,null,present).
change(5,k(257,extent_data,0),backref,null,k(65536,extent_data_ref,99)).
change(5,k(257,extent_data,0),leaf,null,32768).
object(5,k(257,extent_data,0)).
state(5,k(257,extent_data,0),backref,k(65536,extent_data_ref,99)).
state(5,k(257,extent_data,0),leaf,32768).
expect(71, 5, k(257,extent_data,0)).
