% An extent is freed with its checksums; another is replaced by one with the same range; a metadata
% block is removed.
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
state(7,k(-10,extent_csum,61440),nsums,1).
change(2,k(131072,extent_item,8192),object,present,null).
change(2,k(131072,extent_item,8192),flags,data,null).
object(2,k(131072,extent_item,16384)).
object(7,k(-10,extent_csum,131072)).
state(7,k(-10,extent_csum,131072),nsums,2).
change(2,k(327680,extent_item,4096),object,present,null).
change(2,k(327680,extent_item,4096),flags,tree_block,null).

% An extent that stays is written again. Checksums are removed after their extents.
change(2,k(196608,extent_item,8192),object,present,present).
change(2,k(196608,extent_item,8192),refs,1,2).
object(2,k(196608,extent_item,8192)).
state(2,k(196608,extent_item,8192),refs,2).
change(2,k(196608,extent_item,8192),flags,data,data).
object(7,k(-10,extent_csum,196608)).
state(7,k(-10,extent_csum,196608),nsums,2).
change(7,k(-10,extent_csum,262144),object,present,present).
change(7,k(-10,extent_csum,262144),nsums,2,1).
object(7,k(-10,extent_csum,262144)).
state(7,k(-10,extent_csum,262144),nsums,1).
change(7,k(-10,extent_csum,266240),object,present,present).
change(7,k(-10,extent_csum,266240),nsums,1,1).
object(7,k(-10,extent_csum,266240)).
state(7,k(-10,extent_csum,266240),nsums,1).
expect_none.
