% A stripe is added without a device extent, with one for another chunk, and with one that is too
% short.
rule(42).
object(3,k(256,chunk_item,65536)).
state(3,k(256,chunk_item,65536),length,8192).
state(3,k(256,chunk_item,65536),type,1).
state(3,k(256,chunk_item,65536),num_stripes,1).
state(3,k(256,chunk_item,65536),sub_stripes,1).
change(3,k(256,chunk_stripe,a(65536,0)),object,null,present).
change(3,k(256,chunk_stripe,a(65536,0)),devid,null,1).
change(3,k(256,chunk_stripe,a(65536,0)),offset,null,1048576).
object(3,k(256,chunk_stripe,a(65536,0))).
state(3,k(256,chunk_stripe,a(65536,0)),devid,1).
state(3,k(256,chunk_stripe,a(65536,0)),offset,1048576).
object(3,k(256,chunk_item,131072)).
state(3,k(256,chunk_item,131072),length,8192).
state(3,k(256,chunk_item,131072),type,1).
state(3,k(256,chunk_item,131072),num_stripes,1).
state(3,k(256,chunk_item,131072),sub_stripes,1).
change(3,k(256,chunk_stripe,a(131072,0)),object,null,present).
change(3,k(256,chunk_stripe,a(131072,0)),devid,null,1).
change(3,k(256,chunk_stripe,a(131072,0)),offset,null,2097152).
object(3,k(256,chunk_stripe,a(131072,0))).
state(3,k(256,chunk_stripe,a(131072,0)),devid,1).
state(3,k(256,chunk_stripe,a(131072,0)),offset,2097152).
object(4,k(1,dev_extent,2097152)).
state(4,k(1,dev_extent,2097152),length,8192).
state(4,k(1,dev_extent,2097152),chunk_offset,65536).
object(3,k(256,chunk_item,196608)).
state(3,k(256,chunk_item,196608),length,8192).
state(3,k(256,chunk_item,196608),type,1).
state(3,k(256,chunk_item,196608),num_stripes,1).
state(3,k(256,chunk_item,196608),sub_stripes,1).
change(3,k(256,chunk_stripe,a(196608,0)),object,null,present).
change(3,k(256,chunk_stripe,a(196608,0)),devid,null,1).
change(3,k(256,chunk_stripe,a(196608,0)),offset,null,3145728).
object(3,k(256,chunk_stripe,a(196608,0))).
state(3,k(256,chunk_stripe,a(196608,0)),devid,1).
state(3,k(256,chunk_stripe,a(196608,0)),offset,3145728).
object(4,k(1,dev_extent,3145728)).
state(4,k(1,dev_extent,3145728),length,4096).
state(4,k(1,dev_extent,3145728),chunk_offset,196608).
expect(42, 3, k(256,chunk_stripe,a(65536,0))).
expect(42, 3, k(256,chunk_stripe,a(131072,0))).
expect(42, 3, k(256,chunk_stripe,a(196608,0))).

% A device extent is added, and the stripe of its chunk does not lead to it: it is on another
% device, or at another place, or has no chunk.
object(3,k(256,chunk_item,262144)).
state(3,k(256,chunk_item,262144),length,8192).
state(3,k(256,chunk_item,262144),type,1).
state(3,k(256,chunk_item,262144),num_stripes,1).
state(3,k(256,chunk_item,262144),sub_stripes,1).
object(3,k(256,chunk_stripe,a(262144,0))).
state(3,k(256,chunk_stripe,a(262144,0)),devid,2).
state(3,k(256,chunk_stripe,a(262144,0)),offset,4194304).
change(4,k(1,dev_extent,4194304),object,null,present).
change(4,k(1,dev_extent,4194304),length,null,8192).
change(4,k(1,dev_extent,4194304),chunk_offset,null,262144).
object(4,k(1,dev_extent,4194304)).
state(4,k(1,dev_extent,4194304),length,8192).
state(4,k(1,dev_extent,4194304),chunk_offset,262144).
object(3,k(256,chunk_item,327680)).
state(3,k(256,chunk_item,327680),length,8192).
state(3,k(256,chunk_item,327680),type,1).
state(3,k(256,chunk_item,327680),num_stripes,1).
state(3,k(256,chunk_item,327680),sub_stripes,1).
object(3,k(256,chunk_stripe,a(327680,0))).
state(3,k(256,chunk_stripe,a(327680,0)),devid,1).
state(3,k(256,chunk_stripe,a(327680,0)),offset,6291456).
change(4,k(1,dev_extent,5242880),object,null,present).
change(4,k(1,dev_extent,5242880),length,null,8192).
change(4,k(1,dev_extent,5242880),chunk_offset,null,327680).
object(4,k(1,dev_extent,5242880)).
state(4,k(1,dev_extent,5242880),length,8192).
state(4,k(1,dev_extent,5242880),chunk_offset,327680).
change(4,k(1,dev_extent,7340032),object,null,present).
change(4,k(1,dev_extent,7340032),length,null,8192).
change(4,k(1,dev_extent,7340032),chunk_offset,null,393216).
object(4,k(1,dev_extent,7340032)).
state(4,k(1,dev_extent,7340032),length,8192).
state(4,k(1,dev_extent,7340032),chunk_offset,393216).
expect(42, 4, k(1,dev_extent,4194304)).
expect(42, 4, k(1,dev_extent,5242880)).
expect(42, 4, k(1,dev_extent,7340032)).

% The device extent is removed, or the stripe is removed.
object(3,k(256,chunk_item,458752)).
state(3,k(256,chunk_item,458752),length,8192).
state(3,k(256,chunk_item,458752),type,1).
state(3,k(256,chunk_item,458752),num_stripes,1).
state(3,k(256,chunk_item,458752),sub_stripes,1).
object(3,k(256,chunk_stripe,a(458752,0))).
state(3,k(256,chunk_stripe,a(458752,0)),devid,1).
state(3,k(256,chunk_stripe,a(458752,0)),offset,8388608).
change(4,k(1,dev_extent,8388608),object,present,null).
change(4,k(1,dev_extent,8388608),length,8192,null).
change(4,k(1,dev_extent,8388608),chunk_offset,458752,null).
change(3,k(256,chunk_stripe,a(524288,0)),object,present,null).
change(3,k(256,chunk_stripe,a(524288,0)),devid,1,null).
change(3,k(256,chunk_stripe,a(524288,0)),offset,9437184,null).
object(4,k(1,dev_extent,9437184)).
state(4,k(1,dev_extent,9437184),length,8192).
state(4,k(1,dev_extent,9437184),chunk_offset,524288).
expect(42, 3, k(256,chunk_stripe,a(458752,0))).
expect(42, 4, k(1,dev_extent,9437184)).

% A chunk with two copies loses the device extent of one copy. The other stays.
object(3,k(256,chunk_item,589824)).
state(3,k(256,chunk_item,589824),length,8192).
state(3,k(256,chunk_item,589824),type,33).
state(3,k(256,chunk_item,589824),num_stripes,2).
state(3,k(256,chunk_item,589824),sub_stripes,1).
object(3,k(256,chunk_stripe,a(589824,0))).
state(3,k(256,chunk_stripe,a(589824,0)),devid,1).
state(3,k(256,chunk_stripe,a(589824,0)),offset,10485760).
object(3,k(256,chunk_stripe,a(589824,1))).
state(3,k(256,chunk_stripe,a(589824,1)),devid,1).
state(3,k(256,chunk_stripe,a(589824,1)),offset,11534336).
object(4,k(1,dev_extent,10485760)).
state(4,k(1,dev_extent,10485760),length,8192).
state(4,k(1,dev_extent,10485760),chunk_offset,589824).
change(4,k(1,dev_extent,11534336),object,present,null).
change(4,k(1,dev_extent,11534336),length,8192,null).
change(4,k(1,dev_extent,11534336),chunk_offset,589824,null).
expect(42, 3, k(256,chunk_stripe,a(589824,1))).

% A device extent names another chunk than the one that leads to it.
object(3,k(256,chunk_item,786432)).
state(3,k(256,chunk_item,786432),length,8192).
state(3,k(256,chunk_item,786432),type,1).
state(3,k(256,chunk_item,786432),num_stripes,1).
state(3,k(256,chunk_item,786432),sub_stripes,1).
object(3,k(256,chunk_stripe,a(786432,0))).
state(3,k(256,chunk_stripe,a(786432,0)),devid,1).
state(3,k(256,chunk_stripe,a(786432,0)),offset,14680064).
change(4,k(1,dev_extent,14680064),object,null,present).
change(4,k(1,dev_extent,14680064),length,null,8192).
change(4,k(1,dev_extent,14680064),chunk_offset,null,65536).
object(4,k(1,dev_extent,14680064)).
state(4,k(1,dev_extent,14680064),length,8192).
state(4,k(1,dev_extent,14680064),chunk_offset,65536).
expect(42, 4, k(1,dev_extent,14680064)).

% A device extent is given to another chunk, and the old one still leads to it.
object(3,k(256,chunk_item,851968)).
state(3,k(256,chunk_item,851968),length,8192).
state(3,k(256,chunk_item,851968),type,1).
state(3,k(256,chunk_item,851968),num_stripes,1).
state(3,k(256,chunk_item,851968),sub_stripes,1).
object(3,k(256,chunk_stripe,a(851968,0))).
state(3,k(256,chunk_stripe,a(851968,0)),devid,1).
state(3,k(256,chunk_stripe,a(851968,0)),offset,15728640).
object(3,k(256,chunk_item,917504)).
state(3,k(256,chunk_item,917504),length,8192).
state(3,k(256,chunk_item,917504),type,1).
state(3,k(256,chunk_item,917504),num_stripes,1).
state(3,k(256,chunk_item,917504),sub_stripes,1).
object(3,k(256,chunk_stripe,a(917504,0))).
state(3,k(256,chunk_stripe,a(917504,0)),devid,1).
state(3,k(256,chunk_stripe,a(917504,0)),offset,15728640).
change(4,k(1,dev_extent,15728640),object,present,present).
change(4,k(1,dev_extent,15728640),chunk_offset,851968,917504).
object(4,k(1,dev_extent,15728640)).
state(4,k(1,dev_extent,15728640),chunk_offset,917504).
state(4,k(1,dev_extent,15728640),length,8192).
expect(42, 3, k(256,chunk_stripe,a(851968,0))).

% A stripe moves to another device, and leaves its device extent behind.
object(3,k(256,chunk_item,983040)).
state(3,k(256,chunk_item,983040),length,8192).
state(3,k(256,chunk_item,983040),type,1).
state(3,k(256,chunk_item,983040),num_stripes,1).
state(3,k(256,chunk_item,983040),sub_stripes,1).
change(3,k(256,chunk_stripe,a(983040,0)),object,present,present).
change(3,k(256,chunk_stripe,a(983040,0)),devid,1,2).
change(3,k(256,chunk_stripe,a(983040,0)),offset,16777216,17825792).
object(3,k(256,chunk_stripe,a(983040,0))).
state(3,k(256,chunk_stripe,a(983040,0)),devid,2).
state(3,k(256,chunk_stripe,a(983040,0)),offset,17825792).
object(4,k(1,dev_extent,16777216)).
state(4,k(1,dev_extent,16777216),length,8192).
state(4,k(1,dev_extent,16777216),chunk_offset,983040).
object(4,k(2,dev_extent,17825792)).
state(4,k(2,dev_extent,17825792),length,8192).
state(4,k(2,dev_extent,17825792),chunk_offset,983040).
expect(42, 4, k(1,dev_extent,16777216)).

% RAID0 over two devices, with stripes as long as the chunk; RAID10 over four, with stripes as long
% as a quarter.
object(3,k(256,chunk_item,655360)).
state(3,k(256,chunk_item,655360),length,8192).
state(3,k(256,chunk_item,655360),type,9).
state(3,k(256,chunk_item,655360),num_stripes,2).
state(3,k(256,chunk_item,655360),sub_stripes,1).
change(3,k(256,chunk_stripe,a(655360,0)),object,null,present).
change(3,k(256,chunk_stripe,a(655360,0)),devid,null,1).
change(3,k(256,chunk_stripe,a(655360,0)),offset,null,12582912).
object(3,k(256,chunk_stripe,a(655360,0))).
state(3,k(256,chunk_stripe,a(655360,0)),devid,1).
state(3,k(256,chunk_stripe,a(655360,0)),offset,12582912).
object(4,k(1,dev_extent,12582912)).
state(4,k(1,dev_extent,12582912),length,8192).
state(4,k(1,dev_extent,12582912),chunk_offset,655360).
object(3,k(256,chunk_item,720896)).
state(3,k(256,chunk_item,720896),length,16384).
state(3,k(256,chunk_item,720896),type,65).
state(3,k(256,chunk_item,720896),num_stripes,4).
state(3,k(256,chunk_item,720896),sub_stripes,2).
change(3,k(256,chunk_stripe,a(720896,0)),object,null,present).
change(3,k(256,chunk_stripe,a(720896,0)),devid,null,1).
change(3,k(256,chunk_stripe,a(720896,0)),offset,null,13631488).
object(3,k(256,chunk_stripe,a(720896,0))).
state(3,k(256,chunk_stripe,a(720896,0)),devid,1).
state(3,k(256,chunk_stripe,a(720896,0)),offset,13631488).
object(4,k(1,dev_extent,13631488)).
state(4,k(1,dev_extent,13631488),length,4096).
state(4,k(1,dev_extent,13631488),chunk_offset,720896).
expect(42, 3, k(256,chunk_stripe,a(655360,0))).
expect(42, 3, k(256,chunk_stripe,a(720896,0))).
