% Each of the three records of a name, without the two others.
rule(17).
object(5,k(256,inode_item,0)).
state(5,k(256,inode_item,0),nlink,1).
change(5,k(257,inode_ref,a(256,2)),object,null,present).
change(5,k(257,inode_ref,a(256,2)),name,null,'a').
change(5,k(257,inode_ref,a(256,2)),link,null,k(257,inode_item,97)).
object(5,k(257,inode_ref,a(256,2))).
state(5,k(257,inode_ref,a(256,2)),name,'a').
state(5,k(257,inode_ref,a(256,2)),link,k(257,inode_item,97)).
change(5,k(256,dir_index,3),object,null,present).
change(5,k(256,dir_index,3),name,null,'b').
change(5,k(256,dir_index,3),location,null,k(258,inode_item,0)).
change(5,k(256,dir_index,3),link,null,k(258,inode_item,98)).
object(5,k(256,dir_index,3)).
state(5,k(256,dir_index,3),name,'b').
state(5,k(256,dir_index,3),location,k(258,inode_item,0)).
state(5,k(256,dir_index,3),link,k(258,inode_item,98)).
change(5,k(256,dir_item,763318075),object,null,present).
change(5,k(256,dir_item,763318075),name,null,'c').
change(5,k(256,dir_item,763318075),location,null,k(259,inode_item,0)).
change(5,k(256,dir_item,763318075),link,null,k(259,inode_item,99)).
object(5,k(256,dir_item,763318075)).
state(5,k(256,dir_item,763318075),name,'c').
state(5,k(256,dir_item,763318075),location,k(259,inode_item,0)).
state(5,k(256,dir_item,763318075),link,k(259,inode_item,99)).
change(5,k(260,inode_extref,a(256,5)),object,null,present).
change(5,k(260,inode_extref,a(256,5)),name,null,'d').
change(5,k(260,inode_extref,a(256,5)),link,null,k(260,inode_item,100)).
object(5,k(260,inode_extref,a(256,5))).
state(5,k(260,inode_extref,a(256,5)),name,'d').
state(5,k(260,inode_extref,a(256,5)),link,k(260,inode_item,100)).
expect(17, 5, k(257,inode_ref,a(256,2))).
expect(17, 5, k(256,dir_index,3)).
expect(17, 5, k(256,dir_item,763318075)).
expect(17, 5, k(260,inode_extref,a(256,5))).

% The entries lead to another file than the one that has the record of the name.
change(5,k(262,inode_ref,a(256,7)),object,null,present).
change(5,k(262,inode_ref,a(256,7)),name,null,'f').
change(5,k(262,inode_ref,a(256,7)),link,null,k(262,inode_item,102)).
object(5,k(262,inode_ref,a(256,7))).
state(5,k(262,inode_ref,a(256,7)),name,'f').
state(5,k(262,inode_ref,a(256,7)),link,k(262,inode_item,102)).
object(5,k(256,dir_index,7)).
state(5,k(256,dir_index,7),name,'f').
state(5,k(256,dir_index,7),location,k(263,inode_item,0)).
state(5,k(256,dir_index,7),link,k(263,inode_item,103)).
object(5,k(256,dir_item,411982631)).
state(5,k(256,dir_item,411982631),name,'f').
state(5,k(256,dir_item,411982631),location,k(263,inode_item,0)).
state(5,k(256,dir_item,411982631),link,k(263,inode_item,103)).
expect(17, 5, k(262,inode_ref,a(256,7))).

% A second dir_item of a name is added, under a wrong hash.
object(5,k(264,inode_ref,a(256,8))).
state(5,k(264,inode_ref,a(256,8)),name,'g').
state(5,k(264,inode_ref,a(256,8)),link,k(264,inode_item,104)).
object(5,k(256,dir_index,8)).
state(5,k(256,dir_index,8),name,'g').
state(5,k(256,dir_index,8),location,k(264,inode_item,0)).
state(5,k(256,dir_index,8),link,k(264,inode_item,104)).
object(5,k(256,dir_item,3940931620)).
state(5,k(256,dir_item,3940931620),name,'g').
state(5,k(256,dir_item,3940931620),location,k(264,inode_item,0)).
state(5,k(256,dir_item,3940931620),link,k(264,inode_item,104)).
change(5,k(256,dir_item,6),object,null,present).
change(5,k(256,dir_item,6),name,null,'g').
change(5,k(256,dir_item,6),location,null,k(264,inode_item,0)).
change(5,k(256,dir_item,6),link,null,k(264,inode_item,104)).
object(5,k(256,dir_item,6)).
state(5,k(256,dir_item,6),name,'g').
state(5,k(256,dir_item,6),location,k(264,inode_item,0)).
state(5,k(256,dir_item,6),link,k(264,inode_item,104)).
expect(17, 5, k(256,dir_item,6)).

% A root directory with an index other than 0, and a file with the index 0.
change(300,k(256,inode_ref,a(256,1)),object,null,present).
change(300,k(256,inode_ref,a(256,1)),name,null,'..').
object(300,k(256,inode_ref,a(256,1))).
state(300,k(256,inode_ref,a(256,1)),name,'..').
change(300,k(257,inode_ref,a(256,0)),object,null,present).
change(300,k(257,inode_ref,a(256,0)),name,null,'a').
object(300,k(257,inode_ref,a(256,0))).
state(300,k(257,inode_ref,a(256,0)),name,'a').
expect(17, 300, k(256,inode_ref,a(256,1))).
expect(17, 300, k(257,inode_ref,a(256,0))).

% The key of the dir_item has another hash than that of its name.
change(5,k(261,inode_ref,a(256,6)),object,null,present).
change(5,k(261,inode_ref,a(256,6)),name,null,'e').
change(5,k(261,inode_ref,a(256,6)),link,null,k(261,inode_item,101)).
object(5,k(261,inode_ref,a(256,6))).
state(5,k(261,inode_ref,a(256,6)),name,'e').
state(5,k(261,inode_ref,a(256,6)),link,k(261,inode_item,101)).
change(5,k(256,dir_index,6),object,null,present).
change(5,k(256,dir_index,6),name,null,'e').
change(5,k(256,dir_index,6),location,null,k(261,inode_item,0)).
change(5,k(256,dir_index,6),link,null,k(261,inode_item,101)).
object(5,k(256,dir_index,6)).
state(5,k(256,dir_index,6),name,'e').
state(5,k(256,dir_index,6),location,k(261,inode_item,0)).
state(5,k(256,dir_index,6),link,k(261,inode_item,101)).
change(5,k(256,dir_item,5),object,null,present).
change(5,k(256,dir_item,5),name,null,'e').
change(5,k(256,dir_item,5),location,null,k(261,inode_item,0)).
change(5,k(256,dir_item,5),link,null,k(261,inode_item,101)).
object(5,k(256,dir_item,5)).
state(5,k(256,dir_item,5),name,'e').
state(5,k(256,dir_item,5),location,k(261,inode_item,0)).
state(5,k(256,dir_item,5),link,k(261,inode_item,101)).
expect(17, 5, k(256,dir_item,5)).
expect(17, 5, k(256,dir_index,6)).
expect(17, 5, k(261,inode_ref,a(256,6))).

% The entries of a name lead to an inode that has another name with the index.
change(5,k(256,dir_index,9),object,null,present).
change(5,k(256,dir_index,9),name,null,'i').
change(5,k(256,dir_index,9),location,null,k(265,inode_item,0)).
change(5,k(256,dir_index,9),link,null,k(265,inode_item,105)).
object(5,k(256,dir_index,9)).
state(5,k(256,dir_index,9),name,'i').
state(5,k(256,dir_index,9),location,k(265,inode_item,0)).
state(5,k(256,dir_index,9),link,k(265,inode_item,105)).
change(5,k(256,dir_item,1184720643),object,null,present).
change(5,k(256,dir_item,1184720643),name,null,'i').
change(5,k(256,dir_item,1184720643),location,null,k(265,inode_item,0)).
change(5,k(256,dir_item,1184720643),link,null,k(265,inode_item,105)).
object(5,k(256,dir_item,1184720643)).
state(5,k(256,dir_item,1184720643),name,'i').
state(5,k(256,dir_item,1184720643),location,k(265,inode_item,0)).
state(5,k(256,dir_item,1184720643),link,k(265,inode_item,105)).
object(5,k(265,inode_ref,a(256,9))).
state(5,k(265,inode_ref,a(256,9)),name,'j').
state(5,k(265,inode_ref,a(256,9)),link,k(265,inode_item,106)).
expect(17, 5, k(256,dir_index,9)).
expect(17, 5, k(256,dir_item,1184720643)).

% The dir_index has another name than the dir_item. Both names have one link.
object(5,k(256,dir_index,10)).
state(5,k(256,dir_index,10),name,'l').
state(5,k(256,dir_index,10),location,k(266,inode_item,0)).
state(5,k(256,dir_index,10),link,k(266,inode_item,107)).
object(5,k(256,dir_item,2812680180)).
state(5,k(256,dir_item,2812680180),name,'k').
state(5,k(256,dir_item,2812680180),location,k(266,inode_item,0)).
state(5,k(256,dir_item,2812680180),link,k(266,inode_item,107)).
change(5,k(266,inode_ref,a(256,10)),object,null,present).
change(5,k(266,inode_ref,a(256,10)),name,null,'k').
change(5,k(266,inode_ref,a(256,10)),link,null,k(266,inode_item,107)).
object(5,k(266,inode_ref,a(256,10))).
state(5,k(266,inode_ref,a(256,10)),name,'k').
state(5,k(266,inode_ref,a(256,10)),link,k(266,inode_item,107)).
expect(17, 5, k(266,inode_ref,a(256,10))).

% The dir_index leads to another file than the dir_item.
object(5,k(256,dir_index,11)).
state(5,k(256,dir_index,11),name,'m').
state(5,k(256,dir_index,11),location,k(268,inode_item,0)).
state(5,k(256,dir_index,11),link,k(268,inode_item,109)).
object(5,k(256,dir_item,2164781084)).
state(5,k(256,dir_item,2164781084),name,'m').
state(5,k(256,dir_item,2164781084),location,k(267,inode_item,0)).
state(5,k(256,dir_item,2164781084),link,k(267,inode_item,109)).
change(5,k(267,inode_ref,a(256,11)),object,null,present).
change(5,k(267,inode_ref,a(256,11)),name,null,'m').
change(5,k(267,inode_ref,a(256,11)),link,null,k(267,inode_item,109)).
object(5,k(267,inode_ref,a(256,11))).
state(5,k(267,inode_ref,a(256,11)),name,'m').
state(5,k(267,inode_ref,a(256,11)),link,k(267,inode_item,109)).
expect(17, 5, k(267,inode_ref,a(256,11))).
