% A new leaf, a node of a file system without SKINNY_METADATA, and data, which has no block.
rule(106).
change(2,k(65536,metadata_item,0),object,null,present).
change(2,k(65536,metadata_item,0),generation,null,9).
object(-1,k(65536,block,0)).
state(-1,k(65536,block,0),generation,9).

change(2,k(81920,extent_item,16384),object,null,present).
change(2,k(81920,extent_item,16384),generation,null,9).
change(2,k(81920,extent_item,16384),level,null,1).
object(2,k(81920,extent_item,16384)).
state(2,k(81920,extent_item,16384),generation,9).
state(2,k(81920,extent_item,16384),level,1).
object(-1,k(81920,block,0)).
state(-1,k(81920,block,0),generation,9).

change(2,k(98304,extent_item,16384),object,null,present).
change(2,k(98304,extent_item,16384),generation,null,9).
object(2,k(98304,extent_item,16384)).
state(2,k(98304,extent_item,16384),generation,9).
object(-1,k(98304,block,0)).
state(-1,k(98304,block,0),generation,5).
expect_none.
