% A device extent that reaches beyond its device.
rule(44).
change(4,k(1,dev_extent,1048576),object,null,present).
change(4,k(1,dev_extent,1048576),length,null,8192).
object(4,k(1,dev_extent,1048576)).
object(3,k(1,dev_item,1)).
state(3,k(1,dev_item,1),total_bytes,1052672).
expect(44, 4, k(1,dev_extent,1048576)).
