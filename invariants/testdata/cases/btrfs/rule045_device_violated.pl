% A device becomes smaller, and the total_bytes of the superblock does not change.
rule(45).
change(3,k(1,dev_item,1),object,present,present).
change(3,k(1,dev_item,1),total_bytes,8192,4096).
object(3,k(1,dev_item,1)).
state(3,k(1,dev_item,1),total_bytes,4096).
expect(45, 0, k(0,super_block,0)).
