% Only the used of a block group changes.
rule(47).
change(11,k(65536,block_group_item,8192),object,present,present).
change(11,k(65536,block_group_item,8192),used,0,4096).
object(11,k(65536,block_group_item,8192)).
state(11,k(65536,block_group_item,8192),used,4096).
expect(47, 0, k(0,super_block,0)).
