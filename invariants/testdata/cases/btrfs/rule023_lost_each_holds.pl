% A checksum item loses the sums of an extent that is removed. The extent before it keeps its sums.
% The extents of files without checksums around it have none.
rule(23).
object(0,k(0,super_block,0)).
state(0,k(0,super_block,0),generation,9).
state(0,k(0,super_block,0),uuid_tree_generation,9).
state(0,k(0,super_block,0),f(compat_ro_flags,free_space_tree_valid),1).
state(0,k(0,super_block,0),sectorsize,4096).
state(0,k(0,super_block,0),nodesize,16384).
change(7,k(-10,extent_csum,65536),nsums,4,2).
object(7,k(-10,extent_csum,65536)).
state(7,k(-10,extent_csum,65536),nsums,2).
object(2,k(65536,extent_item,8192)).
change(2,k(73728,extent_item,8192),object,present,null).
change(2,k(73728,extent_item,8192),refs,1,null).
object(2,k(81920,extent_item,8192)).
object(2,k(131072,extent_item,8192)).
object(2,k(32768,extent_item,8192)).

% A checksum item grows by the first sector of a preallocated extent, which is written.
change(7,k(-10,extent_csum,262144),nsums,1,2).
object(7,k(-10,extent_csum,262144)).
state(7,k(-10,extent_csum,262144),nsums,2).
object(2,k(262144,extent_item,4096)).
object(2,k(266240,extent_item,16384)).

% The last extent has no checksums either.
object(2,k(524288,extent_item,8192)).
expect_none.
