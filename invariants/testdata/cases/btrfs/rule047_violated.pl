% Block groups change, and the bytes_used of the superblock does not.
rule(47).
change(0,k(0,super_block,0),bytes_used,100000,100000).
change(2,k(65536,block_group_item,8192),used,0,4096).
change(2,k(131072,block_group_item,8192),used,8192,0).
expect(47, 0, k(0,super_block,0)).
