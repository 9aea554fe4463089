% The extent of an existing leaf becomes older than the leaf. A new node has an earlier generation
% than its extent.
rule(106).
change(2,k(65536,metadata_item,0),object,present,present).
change(2,k(65536,metadata_item,0),generation,9,8).
object(-1,k(65536,block,0)).
state(-1,k(65536,block,0),generation,9).
expect(106, 2, k(65536,metadata_item,0)).

change(2,k(81920,extent_item,16384),object,null,present).
change(2,k(81920,extent_item,16384),generation,null,9).
change(2,k(81920,extent_item,16384),level,null,1).
object(2,k(81920,extent_item,16384)).
state(2,k(81920,extent_item,16384),generation,9).
state(2,k(81920,extent_item,16384),level,1).
object(-1,k(81920,block,0)).
state(-1,k(81920,block,0),generation,8).
expect(106, 2, k(81920,extent_item,16384)).
