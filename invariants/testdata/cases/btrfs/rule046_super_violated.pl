% Only the copy in the superblock changes.
rule(46).
change(0,k(0,super_block,0),f(dev_item,total_bytes),65536,131072).
object(0,k(0,super_block,0)).
state(0,k(0,super_block,0),devid,1).
state(0,k(0,super_block,0),f(dev_item,total_bytes),131072).
object(3,k(1,dev_item,1)).
state(3,k(1,dev_item,1),total_bytes,65536).
expect(46, 0, k(0,super_block,0)).
