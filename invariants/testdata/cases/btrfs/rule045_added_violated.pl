% A device is added: total_bytes counts it, and num_devices does not.
rule(45).
change(0,k(0,super_block,0),object,present,present).
change(0,k(0,super_block,0),total_bytes,8192,12288).
object(0,k(0,super_block,0)).
state(0,k(0,super_block,0),total_bytes,12288).
change(3,k(1,dev_item,2),object,null,present).
change(3,k(1,dev_item,2),total_bytes,null,4096).
object(3,k(1,dev_item,2)).
state(3,k(1,dev_item,2),total_bytes,4096).
expect(45, 0, k(0,super_block,0)).
