% A second device is added, and total_bytes grows by more than its size.
rule(45).
change(0,k(0,super_block,0),total_bytes,8192,16384).
change(3,k(1,dev_item,2),object,null,present).
change(3,k(1,dev_item,2),total_bytes,null,4096).
change(0,k(0,super_block,0),num_devices,1,2).
expect(45, 0, k(0,super_block,0)).
