% A snapshot is made, and each block below its root has a reference of it.
rule(74).
change(1,k(257,root_item,9),object,null,present).
change(1,k(257,root_item,9),level,null,1).
change(1,k(257,root_item,9),bytenr,null,65536).
object(1,k(257,root_item,9)).
state(1,k(257,root_item,9),refs,1).
object(-1,k(65536,block_pointers,81920)).
object(2,k(81920,tree_block_ref,256)).
object(2,k(81920,tree_block_ref,257)).

% The root of a snapshot is a leaf, whose file extents lie in an extent.
change(1,k(258,root_item,9),object,null,present).
change(1,k(258,root_item,9),level,null,0).
change(1,k(258,root_item,9),bytenr,null,98304).
object(1,k(258,root_item,9)).
state(1,k(258,root_item,9),refs,1).
object(-1,k(98304,block_pointers,1048576)).
object(2,k(1048576,extent_data_ref,99)).

% A snapshot is made and deleted in one transaction. It is being dropped.
change(1,k(259,root_item,9),object,null,present).
change(1,k(259,root_item,9),level,null,1).
change(1,k(259,root_item,9),bytenr,null,114688).
object(1,k(259,root_item,9)).
state(1,k(259,root_item,9),refs,0).
object(-1,k(114688,block_pointers,131072)).

% Balance makes a relocation tree, and the blocks below its root have references of the root.
change(1,k(-8,root_item,256),object,null,present).
change(1,k(-8,root_item,256),level,null,1).
change(1,k(-8,root_item,256),bytenr,null,147456).
object(1,k(-8,root_item,256)).
state(1,k(-8,root_item,256),refs,1).
object(-1,k(147456,block_pointers,81920)).

% The root of a subvolume moves.
change(1,k(256,root_item,0),object,present,present).
change(1,k(256,root_item,0),level,0,1).
change(1,k(256,root_item,0),bytenr,163840,180224).
object(1,k(256,root_item,0)).
state(1,k(256,root_item,0),refs,1).
object(-1,k(180224,block_pointers,196608)).
object(2,k(196608,shared_block_ref,180224)).
expect_none.
