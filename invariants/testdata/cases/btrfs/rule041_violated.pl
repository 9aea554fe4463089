% A data chunk is added, and its block group is for metadata.
rule(41).
change(3,k(256,chunk_item,65536),object,null,present).
change(3,k(256,chunk_item,65536),length,null,8192).
object(3,k(256,chunk_item,65536)).
state(3,k(256,chunk_item,65536),length,8192).
state(3,k(256,chunk_item,65536),type,1).
state(3,k(256,chunk_item,65536),num_stripes,1).
state(3,k(256,chunk_item,65536),sub_stripes,1).

object(2,k(65536,block_group_item,8192)).
state(2,k(65536,block_group_item,8192),flags,4).
expect(41, 3, k(256,chunk_item,65536)).
