% Only the total_bytes of the superblock changes.
rule(45).
change(0,k(0,super_block,0),object,present,present).
change(0,k(0,super_block,0),total_bytes,8192,12288).
object(0,k(0,super_block,0)).
state(0,k(0,super_block,0),total_bytes,12288).
expect(45, 0, k(0,super_block,0)).
