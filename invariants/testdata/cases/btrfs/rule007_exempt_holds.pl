% A snapshot releases a leaf. The count grows without a change of the file extents, and is then
% right.
rule(7).
object(1,k(5,root_item,0)).
state(1,k(5,root_item,0),refs,1).
change(2,k(65536,extent_data_ref,99),object,present,present).
change(2,k(65536,extent_data_ref,99),count,1,2).
object(2,k(65536,extent_data_ref,99)).
state(2,k(65536,extent_data_ref,99),count,2).
state(2,k(65536,extent_data_ref,99),root,5).
state(2,k(65536,extent_data_ref,99),objectid,257).
state(2,k(65536,extent_data_ref,99),offset,0).
object(5,k(257,extent_data,0)).
state(5,k(257,extent_data,0),backref,k(65536,extent_data_ref,99)).
state(5,k(257,extent_data,0),leaf,32768).
object(5,k(257,extent_data,4096)).
state(5,k(257,extent_data,4096),backref,k(65536,extent_data_ref,99)).
state(5,k(257,extent_data,4096),leaf,32768).

% The same, with a file extent of another extent in between.
change(2,k(655360,extent_data_ref,99),object,present,present).
change(2,k(655360,extent_data_ref,99),count,2,1).
object(2,k(655360,extent_data_ref,99)).
state(2,k(655360,extent_data_ref,99),count,1).
state(2,k(655360,extent_data_ref,99),root,5).
state(2,k(655360,extent_data_ref,99),objectid,264).
state(2,k(655360,extent_data_ref,99),offset,0).
object(5,k(264,extent_data,0)).
state(5,k(264,extent_data,0),backref,k(655360,extent_data_ref,99)).
state(5,k(264,extent_data,0),leaf,32768).
object(5,k(264,extent_data,4096)).
state(5,k(264,extent_data,4096),backref,k(720896,extent_data_ref,99)).
state(5,k(264,extent_data,4096),leaf,32768).

% The count changes as the file extents do. It was too low before, which this commit did not cause.
change(2,k(131072,extent_data_ref,99),object,present,present).
change(2,k(131072,extent_data_ref,99),count,1,2).
object(2,k(131072,extent_data_ref,99)).
state(2,k(131072,extent_data_ref,99),count,2).
state(2,k(131072,extent_data_ref,99),root,5).
state(2,k(131072,extent_data_ref,99),objectid,258).
state(2,k(131072,extent_data_ref,99),offset,0).
object(5,k(258,extent_data,0)).
state(5,k(258,extent_data,0),backref,k(131072,extent_data_ref,99)).
state(5,k(258,extent_data,0),leaf,32768).
object(5,k(258,extent_data,4096)).
state(5,k(258,extent_data,4096),backref,k(131072,extent_data_ref,99)).
state(5,k(258,extent_data,4096),leaf,32768).
change(5,k(258,extent_data,8192),object,null,present).
change(5,k(258,extent_data,8192),backref,null,k(131072,extent_data_ref,99)).
change(5,k(258,extent_data,8192),leaf,null,32768).
object(5,k(258,extent_data,8192)).
state(5,k(258,extent_data,8192),backref,k(131072,extent_data_ref,99)).
state(5,k(258,extent_data,8192),leaf,32768).

% A file extent is added with a leaf that has FULL_BACKREF: the extent has a reference of the leaf,
% and none of the file.
object(2,k(49152,metadata_item,0)).
state(2,k(49152,metadata_item,0),f(flags,full_backref),1).
change(5,k(259,extent_data,0),object,null,present).
change(5,k(259,extent_data,0),backref,null,k(196608,extent_data_ref,99)).
change(5,k(259,extent_data,0),leaf,null,49152).
object(5,k(259,extent_data,0)).
state(5,k(259,extent_data,0),backref,k(196608,extent_data_ref,99)).
state(5,k(259,extent_data,0),leaf,49152).
object(2,k(196608,shared_data_ref,49152)).
state(2,k(196608,shared_data_ref,49152),count,1).

% The same, and the file has another file extent that counts for the file.
object(2,k(262144,extent_data_ref,99)).
state(2,k(262144,extent_data_ref,99),root,5).
state(2,k(262144,extent_data_ref,99),objectid,260).
state(2,k(262144,extent_data_ref,99),offset,0).
state(2,k(262144,extent_data_ref,99),count,1).
object(5,k(260,extent_data,0)).
state(5,k(260,extent_data,0),backref,k(262144,extent_data_ref,99)).
state(5,k(260,extent_data,0),leaf,32768).
change(5,k(260,extent_data,4096),object,null,present).
change(5,k(260,extent_data,4096),backref,null,k(262144,extent_data_ref,99)).
change(5,k(260,extent_data,4096),leaf,null,49152).
object(5,k(260,extent_data,4096)).
state(5,k(260,extent_data,4096),backref,k(262144,extent_data_ref,99)).
state(5,k(260,extent_data,4096),leaf,49152).

% A file extent moves to another place of the file.
object(2,k(327680,extent_data_ref,99)).
state(2,k(327680,extent_data_ref,99),root,5).
state(2,k(327680,extent_data_ref,99),objectid,261).
state(2,k(327680,extent_data_ref,99),offset,0).
state(2,k(327680,extent_data_ref,99),count,1).
change(5,k(261,extent_data,0),object,present,null).
change(5,k(261,extent_data,0),backref,k(327680,extent_data_ref,99),null).
change(5,k(261,extent_data,0),leaf,32768,null).
change(5,k(261,extent_data,4096),object,null,present).
change(5,k(261,extent_data,4096),backref,null,k(327680,extent_data_ref,99)).
change(5,k(261,extent_data,4096),leaf,null,32768).
object(5,k(261,extent_data,4096)).
state(5,k(261,extent_data,4096),backref,k(327680,extent_data_ref,99)).
state(5,k(261,extent_data,4096),leaf,32768).

% The same with a count that was wrong before.
object(2,k(786432,extent_data_ref,99)).
state(2,k(786432,extent_data_ref,99),root,5).
state(2,k(786432,extent_data_ref,99),objectid,265).
state(2,k(786432,extent_data_ref,99),offset,0).
state(2,k(786432,extent_data_ref,99),count,3).
change(5,k(265,extent_data,0),object,present,null).
change(5,k(265,extent_data,0),backref,k(786432,extent_data_ref,99),null).
change(5,k(265,extent_data,0),leaf,32768,null).
change(5,k(265,extent_data,4096),object,null,present).
change(5,k(265,extent_data,4096),backref,null,k(786432,extent_data_ref,99)).
change(5,k(265,extent_data,4096),leaf,null,32768).
object(5,k(265,extent_data,4096)).
state(5,k(265,extent_data,4096),backref,k(786432,extent_data_ref,99)).
state(5,k(265,extent_data,4096),leaf,32768).

% The rule says nothing about a subvolume that is being dropped, nor about one that no longer
% exists.
change(2,k(393216,extent_data_ref,99),object,present,present).
change(2,k(393216,extent_data_ref,99),count,2,1).
object(2,k(393216,extent_data_ref,99)).
state(2,k(393216,extent_data_ref,99),count,1).
state(2,k(393216,extent_data_ref,99),root,300).
state(2,k(393216,extent_data_ref,99),objectid,257).
state(2,k(393216,extent_data_ref,99),offset,0).
object(1,k(300,root_item,0)).
state(1,k(300,root_item,0),refs,0).
change(2,k(393216,extent_data_ref,98),object,present,present).
change(2,k(393216,extent_data_ref,98),count,2,1).
object(2,k(393216,extent_data_ref,98)).
state(2,k(393216,extent_data_ref,98),count,1).
state(2,k(393216,extent_data_ref,98),root,301).
state(2,k(393216,extent_data_ref,98),objectid,257).
state(2,k(393216,extent_data_ref,98),offset,0).

% The reference of a file is removed when its leaf gets FULL_BACKREF.
change(2,k(458752,extent_data_ref,99),object,present,null).
change(2,k(458752,extent_data_ref,99),root,5,null).
change(2,k(458752,extent_data_ref,99),objectid,262,null).
change(2,k(458752,extent_data_ref,99),offset,0,null).
change(2,k(458752,extent_data_ref,99),count,1,null).
object(5,k(262,extent_data,0)).
state(5,k(262,extent_data,0),backref,k(458752,extent_data_ref,99)).
state(5,k(262,extent_data,0),leaf,49152).

% A file extent whose extent would begin before the beginning of the file, and one at the greatest
% possible distance from it.
change(2,k(524288,extent_data_ref,99),object,present,present).
change(2,k(524288,extent_data_ref,99),count,1,2).
object(2,k(524288,extent_data_ref,99)).
state(2,k(524288,extent_data_ref,99),count,2).
state(2,k(524288,extent_data_ref,99),root,5).
state(2,k(524288,extent_data_ref,99),objectid,263).
state(2,k(524288,extent_data_ref,99),offset,18446744073709547520).
object(5,k(263,extent_data,0)).
state(5,k(263,extent_data,0),backref,k(524288,extent_data_ref,99)).
state(5,k(263,extent_data,0),leaf,32768).
object(5,k(263,extent_data,268427263)).
state(5,k(263,extent_data,268427263),backref,k(524288,extent_data_ref,99)).
state(5,k(263,extent_data,268427263),leaf,32768).

% A reference of the root tree, for its free space cache. No root_item says that this tree is in
% use.
change(2,k(589824,extent_data_ref,99),object,present,present).
change(2,k(589824,extent_data_ref,99),count,1,2).
object(2,k(589824,extent_data_ref,99)).
state(2,k(589824,extent_data_ref,99),count,2).
state(2,k(589824,extent_data_ref,99),root,1).
state(2,k(589824,extent_data_ref,99),objectid,256).
state(2,k(589824,extent_data_ref,99),offset,0).
object(1,k(256,extent_data,0)).
state(1,k(256,extent_data,0),backref,k(589824,extent_data_ref,99)).
state(1,k(256,extent_data,0),leaf,32768).
object(1,k(256,extent_data,268435455)).
state(1,k(256,extent_data,268435455),backref,k(589824,extent_data_ref,99)).
state(1,k(256,extent_data,268435455),leaf,32768).

% A file extent that holds the last sector of an extent of two sectors.
object(2,k(2097152,extent_item,8192)).
object(2,k(2097152,extent_data_ref,99)).
state(2,k(2097152,extent_data_ref,99),root,5).
state(2,k(2097152,extent_data_ref,99),objectid,280).
state(2,k(2097152,extent_data_ref,99),offset,0).
state(2,k(2097152,extent_data_ref,99),count,1).
change(2,k(2097152,extent_data_ref,99),object,present,present).
change(2,k(2097152,extent_data_ref,99),count,2,1).
object(5,k(280,extent_data,4096)).
state(5,k(280,extent_data,4096),backref,k(2097152,extent_data_ref,99)).
state(5,k(280,extent_data,4096),leaf,32768).
expect_none.
