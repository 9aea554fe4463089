% A file extent in a leaf without FULL_BACKREF: the extent has a reference of the file.
rule(71).
object(2,k(32768,metadata_item,0)).
state(2,k(32768,metadata_item,0),f(flags,full_backref),0).
object(2,k(65536,extent_data_ref,99)).
change(5,k(257,extent_data,0),object,null,present).
change(5,k(257,extent_data,0),backref,null,k(65536,extent_data_ref,99)).
change(5,k(257,extent_data,0),leaf,null,32768).
object(5,k(257,extent_data,0)).
state(5,k(257,extent_data,0),backref,k(65536,extent_data_ref,99)).
state(5,k(257,extent_data,0),leaf,32768).
expect_none.
