% The device becomes smaller, and the copy in the superblock does not change.
rule(46).
change(3,k(1,dev_item,1),object,present,present).
change(3,k(1,dev_item,1),total_bytes,8192,4096).
object(3,k(1,dev_item,1)).
state(3,k(1,dev_item,1),total_bytes,4096).
object(0,k(0,super_block,0)).
state(0,k(0,super_block,0),devid,1).
state(0,k(0,super_block,0),f(dev_item,total_bytes),8192).
expect(46, 0, k(0,super_block,0)).
