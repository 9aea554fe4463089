% A device extent shorter than the chunk.
rule(42).
change(3,k(256,chunk_item,65536),object,null,present).
change(3,k(256,chunk_item,65536),length,null,8192).
object(3,k(256,chunk_item,65536)).
state(3,k(256,chunk_item,65536),length,8192).
state(3,k(256,chunk_item,65536),type,1).
state(3,k(256,chunk_item,65536),num_stripes,1).
state(3,k(256,chunk_item,65536),sub_stripes,1).

change(4,k(1,dev_extent,1048576),object,null,present).
change(4,k(1,dev_extent,1048576),length,null,4096).
object(4,k(1,dev_extent,1048576)).
state(4,k(1,dev_extent,1048576),length,4096).
state(4,k(1,dev_extent,1048576),chunk_offset,65536).
object(3,k(256,chunk_stripe,a(65536,0))).
state(3,k(256,chunk_stripe,a(65536,0)),devid,1).
state(3,k(256,chunk_stripe,a(65536,0)),offset,1048576).
expect(42, 4, k(1,dev_extent,1048576)).
