% Only the bytes_used of a device changes; on other devices only a device extent is added, or only
% removed.
rule(43).
change(3,k(1,dev_item,1),object,present,present).
change(3,k(1,dev_item,1),bytes_used,100000,104096).
object(3,k(1,dev_item,1)).
state(3,k(1,dev_item,1),bytes_used,104096).
change(4,k(2,dev_extent,1048576),object,null,present).
change(4,k(2,dev_extent,1048576),length,null,8192).
change(4,k(2,dev_extent,1048576),chunk_offset,null,65536).
object(4,k(2,dev_extent,1048576)).
state(4,k(2,dev_extent,1048576),length,8192).
state(4,k(2,dev_extent,1048576),chunk_offset,65536).
change(4,k(3,dev_extent,1048576),object,present,null).
change(4,k(3,dev_extent,1048576),length,8192,null).
change(4,k(3,dev_extent,1048576),chunk_offset,65536,null).
expect(43, 3, k(1,dev_item,1)).
expect(43, 3, k(1,dev_item,2)).
expect(43, 3, k(1,dev_item,3)).
