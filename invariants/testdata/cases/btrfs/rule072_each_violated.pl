% An extent is freed, and its checksum stays; the first half of another is freed.
rule(72).
object(0,k(0,super_block,0)).
state(0,k(0,super_block,0),generation,7).
state(0,k(0,super_block,0),uuid_tree_generation,7).
state(0,k(0,super_block,0),sectorsize,4096).
state(0,k(0,super_block,0),log_root,0).
state(0,k(0,super_block,0),f(compat_ro_flags,free_space_tree_valid),1).
change(2,k(65536,extent_item,8192),object,present,null).
change(2,k(65536,extent_item,8192),flags,data,null).
object(7,k(-10,extent_csum,61440)).
state(7,k(-10,extent_csum,61440),nsums,2).
change(2,k(131072,extent_item,8192),object,present,null).
change(2,k(131072,extent_item,8192),flags,data,null).
object(2,k(135168,extent_item,4096)).
object(7,k(-10,extent_csum,131072)).
state(7,k(-10,extent_csum,131072),nsums,1).
expect(72, 2, k(65536,extent_item,8192)).
expect(72, 2, k(131072,extent_item,8192)).

% A checksum is added behind an extent.
change(7,k(-10,extent_csum,200704),object,null,present).
change(7,k(-10,extent_csum,200704),nsums,null,1).
object(7,k(-10,extent_csum,200704)).
state(7,k(-10,extent_csum,200704),nsums,1).
object(2,k(196608,extent_item,4096)).
expect(72, 7, k(-10,extent_csum,200704)).
