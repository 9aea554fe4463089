% Data reaches beyond its chunk. Metadata is in a data chunk, although a metadata chunk follows.
rule(49).
object(0,k(0,super_block,0)).
state(0,k(0,super_block,0),nodesize,16384).
object(3,k(256,chunk_item,65536)).
state(3,k(256,chunk_item,65536),length,8192).
state(3,k(256,chunk_item,65536),type,1).
state(3,k(256,chunk_item,65536),num_stripes,1).
state(3,k(256,chunk_item,65536),sub_stripes,1).
change(2,k(69632,extent_item,8192),object,null,present).
change(2,k(69632,extent_item,8192),flags,null,data).
change(2,k(69632,extent_item,8192),chunk,null,65536).
object(2,k(69632,extent_item,8192)).
state(2,k(69632,extent_item,8192),flags,data).
state(2,k(69632,extent_item,8192),chunk,65536).
object(3,k(256,chunk_item,131072)).
state(3,k(256,chunk_item,131072),length,65536).
state(3,k(256,chunk_item,131072),type,1).
state(3,k(256,chunk_item,131072),num_stripes,1).
state(3,k(256,chunk_item,131072),sub_stripes,1).
object(3,k(256,chunk_item,196608)).
state(3,k(256,chunk_item,196608),length,65536).
state(3,k(256,chunk_item,196608),type,4).
state(3,k(256,chunk_item,196608),num_stripes,1).
state(3,k(256,chunk_item,196608),sub_stripes,1).
change(2,k(131072,metadata_item,0),object,null,present).
change(2,k(131072,metadata_item,0),flags,null,tree_block).
change(2,k(131072,metadata_item,0),chunk,null,131072).
object(2,k(131072,metadata_item,0)).
state(2,k(131072,metadata_item,0),flags,tree_block).
state(2,k(131072,metadata_item,0),chunk,131072).
expect(49, 2, k(69632,extent_item,8192)).
expect(49, 2, k(131072,metadata_item,0)).

% An extent in no chunk at all.
change(2,k(524288,extent_item,4096),object,null,present).
change(2,k(524288,extent_item,4096),flags,null,data).
object(2,k(524288,extent_item,4096)).
state(2,k(524288,extent_item,4096),flags,data).
expect(49, 2, k(524288,extent_item,4096)).
