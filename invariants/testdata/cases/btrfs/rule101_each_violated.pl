% Blocks of the root tree and of the chunk tree, without skinny metadata, have FULL_BACKREF.
rule(101).
change(2,k(65536,extent_item,16384),f(flags,full_backref),0,1).
object(-1,k(65536,block,0)).
state(-1,k(65536,block,0),owner,1).
state(-1,k(65536,block,0),generation,1).
state(-1,k(65536,block,0),f(flags,reloc),0).
expect(101, 2, k(65536,extent_item,16384)).
change(2,k(81920,extent_item,16384),f(flags,full_backref),0,1).
object(-1,k(81920,block,0)).
state(-1,k(81920,block,0),owner,3).
state(-1,k(81920,block,0),generation,1).
state(-1,k(81920,block,0),f(flags,reloc),0).
expect(101, 2, k(81920,extent_item,16384)).

% A block with FULL_BACKREF is younger than the last snapshot.
change(2,k(98304,metadata_item,1),f(flags,full_backref),0,1).
object(-1,k(98304,block,0)).
state(-1,k(98304,block,0),owner,5).
state(-1,k(98304,block,0),generation,8).
state(-1,k(98304,block,0),f(flags,reloc),0).
object(1,k(5,root_item,0)).
state(1,k(5,root_item,0),last_snapshot,7).
expect(101, 2, k(98304,metadata_item,1)).

% A block that balance made has no FULL_BACKREF.
change(2,k(114688,metadata_item,0),object,null,present).
change(2,k(114688,metadata_item,0),f(flags,full_backref),null,0).
object(2,k(114688,metadata_item,0)).
object(-1,k(114688,block,0)).
state(-1,k(114688,block,0),owner,5).
state(-1,k(114688,block,0),f(flags,reloc),1).
expect(101, 2, k(114688,metadata_item,0)).

% A node that is old enough gets FULL_BACKREF, and its child keeps the reference of the tree.
change(2,k(131072,metadata_item,1),f(flags,full_backref),0,1).
object(-1,k(131072,block,0)).
state(-1,k(131072,block,0),owner,5).
state(-1,k(131072,block,0),generation,7).
state(-1,k(131072,block,0),f(flags,reloc),0).
object(-1,k(131072,tree_block,5)).
object(-1,k(131072,block_pointers,147456)).
object(2,k(147456,tree_block_ref,5)).
expect(101, 2, k(131072,metadata_item,1)).

% A leaf that balance moves gets FULL_BACKREF, and its extent keeps the reference of the file.
change(2,k(163840,metadata_item,0),f(flags,full_backref),0,1).
object(-1,k(163840,block,0)).
state(-1,k(163840,block,0),owner,5).
state(-1,k(163840,block,0),generation,9).
state(-1,k(163840,block,0),f(flags,reloc),1).
object(-1,k(163840,tree_block,5)).
object(-1,k(163840,block_pointers,1048576)).
object(2,k(1048576,extent_data_ref,99)).
expect(101, 2, k(163840,metadata_item,0)).

% A node and a leaf lose FULL_BACKREF, and blocks and extents still have references of them.
change(2,k(180224,metadata_item,1),f(flags,full_backref),1,0).
object(-1,k(180224,block,0)).
state(-1,k(180224,block,0),owner,5).
state(-1,k(180224,block,0),f(flags,reloc),0).
object(-1,k(180224,tree_block,5)).
object(-1,k(180224,block_pointers,196608)).
object(2,k(196608,shared_block_ref,180224)).
expect(101, 2, k(180224,metadata_item,1)).
change(2,k(212992,metadata_item,0),f(flags,full_backref),1,0).
object(-1,k(212992,block,0)).
state(-1,k(212992,block,0),owner,5).
state(-1,k(212992,block,0),f(flags,reloc),0).
object(-1,k(212992,tree_block,5)).
object(-1,k(212992,block_pointers,1048576)).
object(2,k(1048576,shared_data_ref,212992)).
expect(101, 2, k(212992,metadata_item,0)).

% A snapshot leads to a leaf without file extents, and the owner tree does not.
change(2,k(229376,metadata_item,0),f(flags,full_backref),1,0).
object(-1,k(229376,tree_block,300)).
object(-1,k(229376,block,0)).
state(-1,k(229376,block,0),owner,5).
state(-1,k(229376,block,0),f(flags,reloc),0).
expect(101, 2, k(229376,metadata_item,0)).

% The owner tree of a block has released it to other trees, and the block has no FULL_BACKREF.
change(2,k(245760,tree_block_ref,5),object,present,null).
object(2,k(245760,metadata_item,0)).
state(2,k(245760,metadata_item,0),f(flags,full_backref),0).
object(-1,k(245760,block,0)).
state(-1,k(245760,block,0),owner,5).
expect(101, 2, k(245760,tree_block_ref,5)).

% Shared references of a node and of a leaf without FULL_BACKREF.
object(2,k(262144,metadata_item,1)).
state(2,k(262144,metadata_item,1),f(flags,full_backref),0).
change(2,k(278528,shared_block_ref,262144),object,null,present).
object(2,k(278528,shared_block_ref,262144)).
expect(101, 2, k(278528,shared_block_ref,262144)).
change(2,k(2097152,shared_data_ref,294912),object,null,present).
object(2,k(2097152,shared_data_ref,294912)).
expect(101, 2, k(2097152,shared_data_ref,294912)).

% A leaf that only a snapshot still has gets FULL_BACKREF, and an extent has no reference of it.
change(2,k(311296,metadata_item,0),f(flags,full_backref),0,1).
object(-1,k(311296,block,0)).
state(-1,k(311296,block,0),level,0).
state(-1,k(311296,block,0),owner,5).
state(-1,k(311296,block,0),generation,7).
state(-1,k(311296,block,0),f(flags,reloc),0).
object(-1,k(311296,block_pointers,3145728)).
object(2,k(3145728,extent_data_ref,99)).
expect(101, 2, k(311296,metadata_item,0)).
