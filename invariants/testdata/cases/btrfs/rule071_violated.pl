% The leaf has no FULL_BACKREF, and the extent has no reference of the file.
rule(71).
change(5,k(257,extent_data,0),backref,null,k(65536,extent_data_ref,99)).
object(5,k(257,extent_data,0)).
state(5,k(257,extent_data,0),backref,k(65536,extent_data_ref,99)).
state(5,k(257,extent_data,0),leaf,32768).
object(2,k(32768,metadata_item,0)).
object(2,k(65536,shared_data_ref,32768)).
object(0,k(0,super_block,0)).
state(0,k(0,super_block,0),nodesize,16384).
state(2,k(32768,metadata_item,0),f(flags,full_backref),0).
expect(71, 5, k(257,extent_data,0)).
