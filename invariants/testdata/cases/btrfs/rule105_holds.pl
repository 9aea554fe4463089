% A new leaf of tree 5, and a snapshot of it from the same transaction.
rule(105).
change(2,k(65536,tree_block_ref,5),object,null,present).
change(2,k(65536,tree_block_ref,256),object,null,present).
object(2,k(65536,tree_block_ref,5)).
object(2,k(65536,tree_block_ref,256)).
object(-1,k(65536,block,0)).
state(-1,k(65536,block,0),owner,5).
state(-1,k(65536,block,0),f(flags,reloc),0).

% A snapshot has a leaf of a subvolume that no longer exists: the leaf has FULL_BACKREF.
change(2,k(81920,tree_block_ref,257),object,null,present).
object(2,k(81920,tree_block_ref,257)).
object(2,k(81920,metadata_item,0)).
state(2,k(81920,metadata_item,0),f(flags,full_backref),1).
object(-1,k(81920,block,0)).
state(-1,k(81920,block,0),owner,300).
state(-1,k(81920,block,0),f(flags,reloc),0).

% A block that balance made, and that a tree took over.
change(2,k(98304,tree_block_ref,5),object,null,present).
object(2,k(98304,tree_block_ref,5)).
object(-1,k(98304,block,0)).
state(-1,k(98304,block,0),owner,18446744073709551608).
state(-1,k(98304,block,0),f(flags,reloc),1).

% A block to which its owner tree leads through a block with FULL_BACKREF.
change(2,k(114688,tree_block_ref,257),object,null,present).
object(2,k(114688,tree_block_ref,257)).
object(-1,k(114688,block,0)).
state(-1,k(114688,block,0),owner,5).
state(-1,k(114688,block,0),f(flags,reloc),0).
object(-1,k(114688,tree_block,5)).

% A reference is removed.
change(2,k(131072,tree_block_ref,257),object,present,null).
object(-1,k(131072,block,0)).
state(-1,k(131072,block,0),owner,5).
state(-1,k(131072,block,0),f(flags,reloc),0).
expect_none.
