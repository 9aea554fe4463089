% Balance makes a node that is younger than any snapshot, and the tree leads to it.
rule(101).
change(2,k(65536,metadata_item,1),object,null,present).
change(2,k(65536,metadata_item,1),f(flags,full_backref),null,1).
object(2,k(65536,metadata_item,1)).
state(2,k(65536,metadata_item,1),f(flags,full_backref),1).
object(-1,k(65536,block,0)).
state(-1,k(65536,block,0),owner,5).
state(-1,k(65536,block,0),generation,9).
state(-1,k(65536,block,0),f(flags,reloc),1).
object(1,k(5,root_item,0)).
state(1,k(5,root_item,0),last_snapshot,7).
object(-1,k(65536,tree_block,5)).
object(-1,k(65536,block_pointers,81920)).
change(2,k(81920,shared_block_ref,65536),object,null,present).
object(2,k(81920,shared_block_ref,65536)).

% Balance makes a leaf, and its extents have references of the leaf.
change(2,k(98304,metadata_item,0),f(flags,full_backref),0,1).
object(2,k(98304,metadata_item,0)).
state(2,k(98304,metadata_item,0),f(flags,full_backref),1).
object(-1,k(98304,block,0)).
state(-1,k(98304,block,0),owner,5).
state(-1,k(98304,block,0),generation,9).
state(-1,k(98304,block,0),f(flags,reloc),1).
object(-1,k(98304,tree_block,5)).
object(-1,k(98304,block_pointers,1048576)).
change(2,k(1048576,shared_data_ref,98304),object,null,present).
object(2,k(1048576,shared_data_ref,98304)).

% A block whose owner subvolume no longer exists, and which the snapshot is releasing.
change(2,k(114688,metadata_item,1),f(flags,full_backref),0,1).
object(-1,k(114688,block,0)).
state(-1,k(114688,block,0),owner,300).
state(-1,k(114688,block,0),generation,9).
state(-1,k(114688,block,0),f(flags,reloc),0).
object(-1,k(114688,tree_block,301)).
object(-1,k(114688,block_pointers,131072)).

% A new block without FULL_BACKREF. Its child has references of other blocks.
change(2,k(147456,metadata_item,1),object,null,present).
change(2,k(147456,metadata_item,1),f(flags,full_backref),null,0).
object(2,k(147456,metadata_item,1)).
state(2,k(147456,metadata_item,1),f(flags,full_backref),0).
object(-1,k(147456,block,0)).
state(-1,k(147456,block,0),owner,5).
state(-1,k(147456,block,0),f(flags,reloc),0).
object(-1,k(147456,tree_block,5)).
object(-1,k(147456,block_pointers,81920)).

% A repair: the block loses FULL_BACKREF.
change(2,k(163840,metadata_item,0),f(flags,full_backref),1,0).
object(-1,k(163840,block,0)).
state(-1,k(163840,block,0),owner,5).
state(-1,k(163840,block,0),f(flags,reloc),0).
object(-1,k(163840,tree_block,5)).
object(-1,k(163840,block_pointers,2097152)).
object(2,k(2097152,shared_data_ref,98304)).

% A block that is removed with its reference; one that another tree has released, while its owner
% tree still leads to it.
change(2,k(180224,tree_block_ref,5),object,present,null).
object(-1,k(180224,block,0)).
state(-1,k(180224,block,0),owner,5).
change(2,k(196608,tree_block_ref,300),object,present,null).
object(2,k(196608,metadata_item,0)).
state(2,k(196608,metadata_item,0),f(flags,full_backref),0).
object(-1,k(196608,block,0)).
state(-1,k(196608,block,0),owner,5).
object(-1,k(196608,tree_block,5)).

% The tree leads to a block through a parent that now has FULL_BACKREF and has the reference.
change(2,k(212992,tree_block_ref,5),object,present,null).
object(2,k(212992,metadata_item,0)).
state(2,k(212992,metadata_item,0),f(flags,full_backref),0).
object(-1,k(212992,block,0)).
state(-1,k(212992,block,0),owner,5).
object(-1,k(212992,tree_block,5)).
expect_none.
