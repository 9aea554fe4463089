% A subvolume gets its own copy of a block that it shared with its snapshot: the old block gets
% FULL_BACKREF.
rule(101).
change(2,k(65536,metadata_item,1),f(flags,full_backref),0,1).
change(2,k(65536,tree_block_ref,256),object,present,null).
object(2,k(65536,metadata_item,1)).
state(2,k(65536,metadata_item,1),f(flags,full_backref),1).
object(-1,k(65536,block,0)).
state(-1,k(65536,block,0),owner,256).
state(-1,k(65536,block,0),generation,7).
state(-1,k(65536,block,0),f(flags,reloc),0).
object(1,k(256,root_item,0)).
state(1,k(256,root_item,0),last_snapshot,7).
object(-1,k(65536,block_pointers,81920)).
object(2,k(81920,shared_block_ref,65536)).
change(2,k(81920,shared_block_ref,65536),object,null,present).

% So does a leaf, and its extent gets a reference of it.
change(2,k(98304,metadata_item,0),f(flags,full_backref),0,1).
object(2,k(98304,metadata_item,0)).
state(2,k(98304,metadata_item,0),f(flags,full_backref),1).
object(-1,k(98304,block,0)).
state(-1,k(98304,block,0),level,0).
state(-1,k(98304,block,0),owner,256).
state(-1,k(98304,block,0),generation,7).
state(-1,k(98304,block,0),f(flags,reloc),0).
object(-1,k(98304,block_pointers,1048576)).
object(2,k(1048576,shared_data_ref,98304)).
change(2,k(1048576,shared_data_ref,98304),object,null,present).
expect_none.
