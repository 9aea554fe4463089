% The first superblock of the commit belongs to a device without a dev_item: the target of a
% replacement.
rule(46).
change(0,k(0,super_block,0),devid,1,0).
change(0,k(0,super_block,0),f(dev_item,bytes_used),8192,4096).
change(0,k(0,super_block,0),f(dev_item,total_bytes),65536,131072).
object(0,k(0,super_block,0)).
state(0,k(0,super_block,0),devid,0).
state(0,k(0,super_block,0),f(dev_item,bytes_used),4096).
state(0,k(0,super_block,0),f(dev_item,total_bytes),131072).
state(3,k(1,dev_item,1),bytes_used,8192).
state(3,k(1,dev_item,1),total_bytes,65536).
expect_none.
