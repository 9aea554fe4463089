% The device changes, and the copy in the superblock does not.
rule(46).
change(3,k(1,dev_item,1),bytes_used,4096,8192).
object(0,k(0,super_block,0)).
state(0,k(0,super_block,0),devid,1).
state(0,k(0,super_block,0),f(dev_item,bytes_used),4096).
expect(46, 0, k(0,super_block,0)).
