% The copy in the superblock gets the bytes_used of another device.
rule(46).
change(0,k(0,super_block,0),object,present,present).
change(0,k(0,super_block,0),f(dev_item,bytes_used),4096,8192).
object(0,k(0,super_block,0)).
state(0,k(0,super_block,0),f(dev_item,bytes_used),8192).
state(0,k(0,super_block,0),devid,1).
object(3,k(1,dev_item,1)).
state(3,k(1,dev_item,1),bytes_used,4096).
object(3,k(1,dev_item,2)).
state(3,k(1,dev_item,2),bytes_used,8192).
expect(46, 0, k(0,super_block,0)).
