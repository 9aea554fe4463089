% A device extent at the end of its device.
rule(44).
change(4,k(1,dev_extent,1048576),object,null,present).
change(4,k(1,dev_extent,1048576),length,null,8192).
object(4,k(1,dev_extent,1048576)).
object(3,k(1,dev_item,1)).
state(3,k(1,dev_item,1),total_bytes,1056768).
expect_none.
