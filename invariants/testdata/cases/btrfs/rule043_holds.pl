% One device extent is added, another is removed.
rule(43).
change(3,k(1,dev_item,1),bytes_used,100000,104096).
change(4,k(1,dev_extent,1048576),length,null,8192).
change(4,k(1,dev_extent,2097152),length,4096,null).
expect_none.
