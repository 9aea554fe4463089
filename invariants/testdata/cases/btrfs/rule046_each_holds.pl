% The device and its copy in the superblock change together. Another device, of which this
% superblock has no copy, changes too.
rule(46).
change(3,k(1,dev_item,1),object,present,present).
change(3,k(1,dev_item,1),total_bytes,8192,4096).
change(3,k(1,dev_item,1),bytes_used,8192,4096).
object(3,k(1,dev_item,1)).
state(3,k(1,dev_item,1),total_bytes,4096).
state(3,k(1,dev_item,1),bytes_used,4096).
change(0,k(0,super_block,0),object,present,present).
change(0,k(0,super_block,0),f(dev_item,total_bytes),8192,4096).
change(0,k(0,super_block,0),f(dev_item,bytes_used),8192,4096).
object(0,k(0,super_block,0)).
state(0,k(0,super_block,0),f(dev_item,total_bytes),4096).
state(0,k(0,super_block,0),f(dev_item,bytes_used),4096).
state(0,k(0,super_block,0),devid,1).
change(3,k(1,dev_item,2),object,present,present).
change(3,k(1,dev_item,2),total_bytes,8192,16384).
change(3,k(1,dev_item,2),bytes_used,8192,16384).
object(3,k(1,dev_item,2)).
state(3,k(1,dev_item,2),total_bytes,16384).
state(3,k(1,dev_item,2),bytes_used,16384).
expect_none.
