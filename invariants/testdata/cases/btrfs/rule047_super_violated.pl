% Only the bytes_used of the superblock changes.
rule(47).
change(0,k(0,super_block,0),object,present,present).
change(0,k(0,super_block,0),bytes_used,100000,104096).
object(0,k(0,super_block,0)).
state(0,k(0,super_block,0),bytes_used,104096).
expect(47, 0, k(0,super_block,0)).
