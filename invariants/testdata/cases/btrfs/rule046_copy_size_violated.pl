% The copy in the superblock gets the size of another device.
rule(46).
change(0,k(0,super_block,0),object,present,present).
change(0,k(0,super_block,0),f(dev_item,total_bytes),4096,8192).
object(0,k(0,super_block,0)).
state(0,k(0,super_block,0),f(dev_item,total_bytes),8192).
state(0,k(0,super_block,0),devid,1).
object(3,k(1,dev_item,1)).
state(3,k(1,dev_item,1),total_bytes,4096).
object(3,k(1,dev_item,2)).
state(3,k(1,dev_item,2),total_bytes,8192).
expect(46, 0, k(0,super_block,0)).
