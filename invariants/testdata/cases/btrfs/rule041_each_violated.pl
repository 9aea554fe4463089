% A chunk is added without a block group, with one of another length, and with one of another type.
rule(41).
change(3,k(256,chunk_item,65536),object,null,present).
change(3,k(256,chunk_item,65536),length,null,8192).
change(3,k(256,chunk_item,65536),type,null,1).
change(3,k(256,chunk_item,65536),num_stripes,null,1).
change(3,k(256,chunk_item,65536),sub_stripes,null,1).
object(3,k(256,chunk_item,65536)).
state(3,k(256,chunk_item,65536),length,8192).
state(3,k(256,chunk_item,65536),type,1).
state(3,k(256,chunk_item,65536),num_stripes,1).
state(3,k(256,chunk_item,65536),sub_stripes,1).
change(3,k(256,chunk_item,131072),object,null,present).
change(3,k(256,chunk_item,131072),length,null,8192).
change(3,k(256,chunk_item,131072),type,null,1).
change(3,k(256,chunk_item,131072),num_stripes,null,1).
change(3,k(256,chunk_item,131072),sub_stripes,null,1).
object(3,k(256,chunk_item,131072)).
state(3,k(256,chunk_item,131072),length,8192).
state(3,k(256,chunk_item,131072),type,1).
state(3,k(256,chunk_item,131072),num_stripes,1).
state(3,k(256,chunk_item,131072),sub_stripes,1).
object(2,k(131072,block_group_item,4096)).
state(2,k(131072,block_group_item,4096),flags,1).
change(3,k(256,chunk_item,196608),object,null,present).
change(3,k(256,chunk_item,196608),length,null,8192).
change(3,k(256,chunk_item,196608),type,null,1).
change(3,k(256,chunk_item,196608),num_stripes,null,1).
change(3,k(256,chunk_item,196608),sub_stripes,null,1).
object(3,k(256,chunk_item,196608)).
state(3,k(256,chunk_item,196608),length,8192).
state(3,k(256,chunk_item,196608),type,1).
state(3,k(256,chunk_item,196608),num_stripes,1).
state(3,k(256,chunk_item,196608),sub_stripes,1).
object(2,k(196608,block_group_item,8192)).
state(2,k(196608,block_group_item,8192),flags,4).
expect(41, 3, k(256,chunk_item,65536)).
expect(41, 3, k(256,chunk_item,131072)).
expect(41, 3, k(256,chunk_item,196608)).

% A block group is added without a chunk, for a chunk of another length, and for one of another
% type.
change(2,k(262144,block_group_item,8192),object,null,present).
change(2,k(262144,block_group_item,8192),flags,null,1).
object(2,k(262144,block_group_item,8192)).
state(2,k(262144,block_group_item,8192),flags,1).
object(3,k(256,chunk_item,327680)).
state(3,k(256,chunk_item,327680),length,4096).
state(3,k(256,chunk_item,327680),type,1).
state(3,k(256,chunk_item,327680),num_stripes,1).
state(3,k(256,chunk_item,327680),sub_stripes,1).
change(2,k(327680,block_group_item,8192),object,null,present).
change(2,k(327680,block_group_item,8192),flags,null,1).
object(2,k(327680,block_group_item,8192)).
state(2,k(327680,block_group_item,8192),flags,1).
object(3,k(256,chunk_item,393216)).
state(3,k(256,chunk_item,393216),length,8192).
state(3,k(256,chunk_item,393216),type,4).
state(3,k(256,chunk_item,393216),num_stripes,1).
state(3,k(256,chunk_item,393216),sub_stripes,1).
change(2,k(393216,block_group_item,8192),object,null,present).
change(2,k(393216,block_group_item,8192),flags,null,1).
object(2,k(393216,block_group_item,8192)).
state(2,k(393216,block_group_item,8192),flags,1).
expect(41, 2, k(262144,block_group_item,8192)).
expect(41, 2, k(327680,block_group_item,8192)).
expect(41, 2, k(393216,block_group_item,8192)).

% The block group is removed, or the chunk is removed; with block groups in the extent tree, and in
% their own tree.
object(3,k(256,chunk_item,458752)).
state(3,k(256,chunk_item,458752),length,8192).
state(3,k(256,chunk_item,458752),type,1).
state(3,k(256,chunk_item,458752),num_stripes,1).
state(3,k(256,chunk_item,458752),sub_stripes,1).
change(2,k(458752,block_group_item,8192),object,present,null).
change(2,k(458752,block_group_item,8192),flags,1,null).
change(3,k(256,chunk_item,524288),object,present,null).
change(3,k(256,chunk_item,524288),length,8192,null).
change(3,k(256,chunk_item,524288),type,1,null).
change(3,k(256,chunk_item,524288),num_stripes,1,null).
change(3,k(256,chunk_item,524288),sub_stripes,1,null).
object(2,k(524288,block_group_item,8192)).
state(2,k(524288,block_group_item,8192),flags,1).
change(3,k(256,chunk_item,589824),object,present,null).
change(3,k(256,chunk_item,589824),length,8192,null).
change(3,k(256,chunk_item,589824),type,1,null).
change(3,k(256,chunk_item,589824),num_stripes,1,null).
change(3,k(256,chunk_item,589824),sub_stripes,1,null).
object(11,k(589824,block_group_item,8192)).
state(11,k(589824,block_group_item,8192),flags,1).
expect(41, 3, k(256,chunk_item,458752)).
expect(41, 2, k(524288,block_group_item,8192)).
expect(41, 11, k(589824,block_group_item,8192)).

% A chunk becomes longer, and its block group does not.
change(3,k(256,chunk_item,655360),object,present,present).
change(3,k(256,chunk_item,655360),length,8192,16384).
object(3,k(256,chunk_item,655360)).
state(3,k(256,chunk_item,655360),length,16384).
state(3,k(256,chunk_item,655360),type,1).
object(2,k(655360,block_group_item,8192)).
state(2,k(655360,block_group_item,8192),flags,1).
expect(41, 3, k(256,chunk_item,655360)).
expect(41, 2, k(655360,block_group_item,8192)).
