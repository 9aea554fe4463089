% Without skinny metadata an extent_item as long as a block says that the leaf has FULL_BACKREF.
rule(8).
object(0,k(0,super_block,0)).
state(0,k(0,super_block,0),nodesize,4096).
object(2,k(32768,extent_item,4096)).
state(2,k(32768,extent_item,4096),f(flags,full_backref),1).
object(-1,k(32768,block_pointers,196608)).
state(-1,k(32768,block_pointers,196608),count,1).
change(2,k(196608,shared_data_ref,32768),object,present,null).
change(2,k(196608,shared_data_ref,32768),count,1,null).
expect(8, 2, k(196608,shared_data_ref,32768)).

% The extent_item says that the leaf does not have FULL_BACKREF.
object(2,k(49152,extent_item,4096)).
state(2,k(49152,extent_item,4096),f(flags,full_backref),0).
object(-1,k(49152,block_pointers,196608)).
state(-1,k(49152,block_pointers,196608),count,1).
change(2,k(196608,shared_data_ref,49152),object,present,null).
change(2,k(196608,shared_data_ref,49152),count,1,null).
