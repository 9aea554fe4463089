% A device is removed, and num_devices still counts it.
rule(45).
change(0,k(0,super_block,0),object,present,present).
change(0,k(0,super_block,0),total_bytes,12288,8192).
object(0,k(0,super_block,0)).
state(0,k(0,super_block,0),total_bytes,8192).
change(3,k(1,dev_item,2),object,present,null).
change(3,k(1,dev_item,2),total_bytes,4096,null).
expect(45, 0, k(0,super_block,0)).
