% RAID5 over three devices, with stripes of a third of the chunk, as under RAID0; RAID6 over four,
% with stripes of a third, as under RAID5; RAID5 with stripes as long as the chunk.
rule(42).
object(3,k(256,chunk_item,65536)).
state(3,k(256,chunk_item,65536),length,12288).
state(3,k(256,chunk_item,65536),type,129).
state(3,k(256,chunk_item,65536),num_stripes,3).
state(3,k(256,chunk_item,65536),sub_stripes,1).
change(3,k(256,chunk_stripe,a(65536,0)),object,null,present).
change(3,k(256,chunk_stripe,a(65536,0)),devid,null,1).
change(3,k(256,chunk_stripe,a(65536,0)),offset,null,1048576).
object(3,k(256,chunk_stripe,a(65536,0))).
state(3,k(256,chunk_stripe,a(65536,0)),devid,1).
state(3,k(256,chunk_stripe,a(65536,0)),offset,1048576).
change(4,k(1,dev_extent,1048576),object,null,present).
change(4,k(1,dev_extent,1048576),length,null,4096).
change(4,k(1,dev_extent,1048576),chunk_offset,null,65536).
object(4,k(1,dev_extent,1048576)).
state(4,k(1,dev_extent,1048576),length,4096).
state(4,k(1,dev_extent,1048576),chunk_offset,65536).
object(3,k(256,chunk_item,131072)).
state(3,k(256,chunk_item,131072),length,12288).
state(3,k(256,chunk_item,131072),type,260).
state(3,k(256,chunk_item,131072),num_stripes,4).
state(3,k(256,chunk_item,131072),sub_stripes,1).
change(3,k(256,chunk_stripe,a(131072,0)),object,null,present).
change(3,k(256,chunk_stripe,a(131072,0)),devid,null,1).
change(3,k(256,chunk_stripe,a(131072,0)),offset,null,2097152).
object(3,k(256,chunk_stripe,a(131072,0))).
state(3,k(256,chunk_stripe,a(131072,0)),devid,1).
state(3,k(256,chunk_stripe,a(131072,0)),offset,2097152).
change(4,k(1,dev_extent,2097152),object,null,present).
change(4,k(1,dev_extent,2097152),length,null,4096).
change(4,k(1,dev_extent,2097152),chunk_offset,null,131072).
object(4,k(1,dev_extent,2097152)).
state(4,k(1,dev_extent,2097152),length,4096).
state(4,k(1,dev_extent,2097152),chunk_offset,131072).
object(3,k(256,chunk_item,196608)).
state(3,k(256,chunk_item,196608),length,12288).
state(3,k(256,chunk_item,196608),type,129).
state(3,k(256,chunk_item,196608),num_stripes,3).
state(3,k(256,chunk_item,196608),sub_stripes,1).
change(3,k(256,chunk_stripe,a(196608,0)),object,null,present).
change(3,k(256,chunk_stripe,a(196608,0)),devid,null,1).
change(3,k(256,chunk_stripe,a(196608,0)),offset,null,3145728).
object(3,k(256,chunk_stripe,a(196608,0))).
state(3,k(256,chunk_stripe,a(196608,0)),devid,1).
state(3,k(256,chunk_stripe,a(196608,0)),offset,3145728).
change(4,k(1,dev_extent,3145728),object,null,present).
change(4,k(1,dev_extent,3145728),length,null,12288).
change(4,k(1,dev_extent,3145728),chunk_offset,null,196608).
object(4,k(1,dev_extent,3145728)).
state(4,k(1,dev_extent,3145728),length,12288).
state(4,k(1,dev_extent,3145728),chunk_offset,196608).
expect(42, 3, k(256,chunk_stripe,a(65536,0))).
expect(42, 4, k(1,dev_extent,1048576)).
expect(42, 3, k(256,chunk_stripe,a(131072,0))).
expect(42, 4, k(1,dev_extent,2097152)).
expect(42, 3, k(256,chunk_stripe,a(196608,0))).
expect(42, 4, k(1,dev_extent,3145728)).
