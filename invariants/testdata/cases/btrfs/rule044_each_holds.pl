% Three device extents that touch, the second of them new. Those of another device lie at the same
% places.
rule(44).
object(3,k(1,dev_item,1)).
state(3,k(1,dev_item,1),total_bytes,1073741824).
object(4,k(1,dev_extent,1048576)).
state(4,k(1,dev_extent,1048576),length,8192).
state(4,k(1,dev_extent,1048576),chunk_offset,0).
change(4,k(1,dev_extent,1056768),object,null,present).
change(4,k(1,dev_extent,1056768),length,null,8192).
change(4,k(1,dev_extent,1056768),chunk_offset,null,0).
object(4,k(1,dev_extent,1056768)).
state(4,k(1,dev_extent,1056768),length,8192).
state(4,k(1,dev_extent,1056768),chunk_offset,0).
object(4,k(1,dev_extent,1064960)).
state(4,k(1,dev_extent,1064960),length,8192).
state(4,k(1,dev_extent,1064960),chunk_offset,0).
object(3,k(1,dev_item,2)).
state(3,k(1,dev_item,2),total_bytes,1073741824).
change(4,k(2,dev_extent,1048576),object,null,present).
change(4,k(2,dev_extent,1048576),length,null,8192).
change(4,k(2,dev_extent,1048576),chunk_offset,null,0).
object(4,k(2,dev_extent,1048576)).
state(4,k(2,dev_extent,1048576),length,8192).
state(4,k(2,dev_extent,1048576),chunk_offset,0).

% A device becomes as small as its last device extent allows. Another device has none.
change(3,k(1,dev_item,3),object,present,present).
change(3,k(1,dev_item,3),total_bytes,1073741824,1056768).
object(3,k(1,dev_item,3)).
state(3,k(1,dev_item,3),total_bytes,1056768).
object(4,k(3,dev_extent,1048576)).
state(4,k(3,dev_extent,1048576),length,8192).
state(4,k(3,dev_extent,1048576),chunk_offset,0).
change(3,k(1,dev_item,4),object,present,present).
change(3,k(1,dev_item,4),total_bytes,1073741824,4096).
object(3,k(1,dev_item,4)).
state(3,k(1,dev_item,4),total_bytes,4096).
expect_none.
