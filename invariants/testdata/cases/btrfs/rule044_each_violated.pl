% A device extent on a device that does not exist.
rule(44).
change(4,k(9,dev_extent,1048576),object,null,present).
change(4,k(9,dev_extent,1048576),length,null,8192).
change(4,k(9,dev_extent,1048576),chunk_offset,null,0).
object(4,k(9,dev_extent,1048576)).
state(4,k(9,dev_extent,1048576),length,8192).
state(4,k(9,dev_extent,1048576),chunk_offset,0).
expect(44, 4, k(9,dev_extent,1048576)).

% A device extent that begins within the one before it, and one that reaches into the next.
object(3,k(1,dev_item,1)).
state(3,k(1,dev_item,1),total_bytes,1073741824).
object(4,k(1,dev_extent,1048576)).
state(4,k(1,dev_extent,1048576),length,8192).
state(4,k(1,dev_extent,1048576),chunk_offset,0).
change(4,k(1,dev_extent,1052672),object,null,present).
change(4,k(1,dev_extent,1052672),length,null,8192).
change(4,k(1,dev_extent,1052672),chunk_offset,null,0).
object(4,k(1,dev_extent,1052672)).
state(4,k(1,dev_extent,1052672),length,8192).
state(4,k(1,dev_extent,1052672),chunk_offset,0).
object(3,k(1,dev_item,2)).
state(3,k(1,dev_item,2),total_bytes,1073741824).
change(4,k(2,dev_extent,1048576),object,null,present).
change(4,k(2,dev_extent,1048576),length,null,8192).
change(4,k(2,dev_extent,1048576),chunk_offset,null,0).
object(4,k(2,dev_extent,1048576)).
state(4,k(2,dev_extent,1048576),length,8192).
state(4,k(2,dev_extent,1048576),chunk_offset,0).
object(4,k(2,dev_extent,1052672)).
state(4,k(2,dev_extent,1052672),length,4096).
state(4,k(2,dev_extent,1052672),chunk_offset,0).
expect(44, 4, k(1,dev_extent,1052672)).
expect(44, 4, k(2,dev_extent,1048576)).

% A device becomes smaller than its last device extent needs.
change(3,k(1,dev_item,3),object,present,present).
change(3,k(1,dev_item,3),total_bytes,1073741824,1052672).
object(3,k(1,dev_item,3)).
state(3,k(1,dev_item,3),total_bytes,1052672).
object(4,k(3,dev_extent,1048576)).
state(4,k(3,dev_extent,1048576),length,8192).
state(4,k(3,dev_extent,1048576),chunk_offset,0).
expect(44, 3, k(1,dev_item,3)).
