% Device extents are added and removed, and bytes_used does not change.
rule(43).
change(3,k(1,dev_item,1),bytes_used,100000,100000).
change(4,k(1,dev_extent,1048576),length,null,8192).
change(4,k(1,dev_extent,2097152),length,4096,null).
expect(43, 3, k(1,dev_item,1)).
