% Power was cut in a balance. Its relocation tree for 256 has been merged and is being removed: a
% leaf of it still has FULL_BACKREF, and has released an extent.
rule(8).
change(2,k(1048576,shared_data_ref,65536),object,present,null).
object(2,k(65536,metadata_item,0)).
state(2,k(65536,metadata_item,0),f(flags,full_backref),1).
object(-1,k(65536,block_pointers,1048576)).
state(-1,k(65536,block_pointers,1048576),count,1).
object(1,k(-8,root_item,256)).
state(1,k(-8,root_item,256),refs,0).
expect_none.
