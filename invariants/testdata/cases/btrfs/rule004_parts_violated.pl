% The records of a subvolume's name can disagree in each of these parts. Each reference is written
% in this commit.
rule(4).

% The directory, in the reference itself.
object(1,k(300,root_item,0)).
state(1,k(300,root_item,0),refs,1).
object(1,k(5,root_ref,300)).
state(1,k(5,root_ref,300),dirid,999).
state(1,k(5,root_ref,300),sequence,2).
state(1,k(5,root_ref,300),name,'a').
state(1,k(5,root_ref,300),link,k(300,root_item,97)).
object(1,k(300,root_backref,5)).
state(1,k(300,root_backref,5),dirid,1300).
state(1,k(300,root_backref,5),sequence,2).
state(1,k(300,root_backref,5),name,'a').
state(1,k(300,root_backref,5),link,k(300,root_item,97)).
object(5,k(1300,dir_index,2)).
state(5,k(1300,dir_index,2),link,k(300,root_item,97)).
state(5,k(1300,dir_index,2),type,s_ifdir).
object(5,k(1300,dir_item,3427024844)).
state(5,k(1300,dir_item,3427024844),link,k(300,root_item,97)).
state(5,k(1300,dir_item,3427024844),type,s_ifdir).
change(1,k(5,root_ref,300),object,null,present).
expect(4, 1, k(5,root_ref,300)).

% The index, in the reference itself.
object(1,k(301,root_item,0)).
state(1,k(301,root_item,0),refs,1).
object(1,k(5,root_ref,301)).
state(1,k(5,root_ref,301),dirid,1301).
state(1,k(5,root_ref,301),sequence,999).
state(1,k(5,root_ref,301),name,'a').
state(1,k(5,root_ref,301),link,k(301,root_item,97)).
object(1,k(301,root_backref,5)).
state(1,k(301,root_backref,5),dirid,1301).
state(1,k(301,root_backref,5),sequence,2).
state(1,k(301,root_backref,5),name,'a').
state(1,k(301,root_backref,5),link,k(301,root_item,97)).
object(5,k(1301,dir_index,2)).
state(5,k(1301,dir_index,2),link,k(301,root_item,97)).
state(5,k(1301,dir_index,2),type,s_ifdir).
object(5,k(1301,dir_item,3427024844)).
state(5,k(1301,dir_item,3427024844),link,k(301,root_item,97)).
state(5,k(1301,dir_item,3427024844),type,s_ifdir).
change(1,k(5,root_ref,301),object,null,present).
expect(4, 1, k(5,root_ref,301)).

% The name, in the reference itself.
object(1,k(302,root_item,0)).
state(1,k(302,root_item,0),refs,1).
object(1,k(5,root_ref,302)).
state(1,k(5,root_ref,302),dirid,1302).
state(1,k(5,root_ref,302),sequence,2).
state(1,k(5,root_ref,302),name,'a').
state(1,k(5,root_ref,302),link,k(302,root_item,98)).
object(1,k(302,root_backref,5)).
state(1,k(302,root_backref,5),dirid,1302).
state(1,k(302,root_backref,5),sequence,2).
state(1,k(302,root_backref,5),name,'a').
state(1,k(302,root_backref,5),link,k(302,root_item,97)).
object(5,k(1302,dir_index,2)).
state(5,k(1302,dir_index,2),link,k(302,root_item,97)).
state(5,k(1302,dir_index,2),type,s_ifdir).
object(5,k(1302,dir_item,3427024844)).
state(5,k(1302,dir_item,3427024844),link,k(302,root_item,97)).
state(5,k(1302,dir_item,3427024844),type,s_ifdir).
change(1,k(5,root_ref,302),object,null,present).
expect(4, 1, k(5,root_ref,302)).

% The directory.
object(1,k(303,root_item,0)).
state(1,k(303,root_item,0),refs,1).
object(1,k(5,root_ref,303)).
state(1,k(5,root_ref,303),dirid,1303).
state(1,k(5,root_ref,303),sequence,2).
state(1,k(5,root_ref,303),name,'a').
state(1,k(5,root_ref,303),link,k(303,root_item,97)).
object(1,k(303,root_backref,5)).
state(1,k(303,root_backref,5),dirid,999).
state(1,k(303,root_backref,5),sequence,2).
state(1,k(303,root_backref,5),name,'a').
state(1,k(303,root_backref,5),link,k(303,root_item,97)).
object(5,k(1303,dir_index,2)).
state(5,k(1303,dir_index,2),link,k(303,root_item,97)).
state(5,k(1303,dir_index,2),type,s_ifdir).
object(5,k(1303,dir_item,3427024844)).
state(5,k(1303,dir_item,3427024844),link,k(303,root_item,97)).
state(5,k(1303,dir_item,3427024844),type,s_ifdir).
change(1,k(5,root_ref,303),object,null,present).
expect(4, 1, k(5,root_ref,303)).

% The index.
object(1,k(304,root_item,0)).
state(1,k(304,root_item,0),refs,1).
object(1,k(5,root_ref,304)).
state(1,k(5,root_ref,304),dirid,1304).
state(1,k(5,root_ref,304),sequence,2).
state(1,k(5,root_ref,304),name,'a').
state(1,k(5,root_ref,304),link,k(304,root_item,97)).
object(1,k(304,root_backref,5)).
state(1,k(304,root_backref,5),dirid,1304).
state(1,k(304,root_backref,5),sequence,999).
state(1,k(304,root_backref,5),name,'a').
state(1,k(304,root_backref,5),link,k(304,root_item,97)).
object(5,k(1304,dir_index,2)).
state(5,k(1304,dir_index,2),link,k(304,root_item,97)).
state(5,k(1304,dir_index,2),type,s_ifdir).
object(5,k(1304,dir_item,3427024844)).
state(5,k(1304,dir_item,3427024844),link,k(304,root_item,97)).
state(5,k(1304,dir_item,3427024844),type,s_ifdir).
change(1,k(5,root_ref,304),object,null,present).
expect(4, 1, k(5,root_ref,304)).

% The name, in the other reference.
object(1,k(305,root_item,0)).
state(1,k(305,root_item,0),refs,1).
object(1,k(5,root_ref,305)).
state(1,k(5,root_ref,305),dirid,1305).
state(1,k(5,root_ref,305),sequence,2).
state(1,k(5,root_ref,305),name,'a').
state(1,k(5,root_ref,305),link,k(305,root_item,97)).
object(1,k(305,root_backref,5)).
state(1,k(305,root_backref,5),dirid,1305).
state(1,k(305,root_backref,5),sequence,2).
state(1,k(305,root_backref,5),name,'a').
state(1,k(305,root_backref,5),link,k(305,root_item,98)).
object(5,k(1305,dir_index,2)).
state(5,k(1305,dir_index,2),link,k(305,root_item,97)).
state(5,k(1305,dir_index,2),type,s_ifdir).
object(5,k(1305,dir_item,3427024844)).
state(5,k(1305,dir_item,3427024844),link,k(305,root_item,97)).
state(5,k(1305,dir_item,3427024844),type,s_ifdir).
change(1,k(5,root_ref,305),object,null,present).
expect(4, 1, k(5,root_ref,305)).

% There is no entry by index.
object(1,k(306,root_item,0)).
state(1,k(306,root_item,0),refs,1).
object(1,k(5,root_ref,306)).
state(1,k(5,root_ref,306),dirid,1306).
state(1,k(5,root_ref,306),sequence,2).
state(1,k(5,root_ref,306),name,'a').
state(1,k(5,root_ref,306),link,k(306,root_item,97)).
object(1,k(306,root_backref,5)).
state(1,k(306,root_backref,5),dirid,1306).
state(1,k(306,root_backref,5),sequence,2).
state(1,k(306,root_backref,5),name,'a').
state(1,k(306,root_backref,5),link,k(306,root_item,97)).
object(5,k(1306,dir_item,3427024844)).
state(5,k(1306,dir_item,3427024844),link,k(306,root_item,97)).
state(5,k(1306,dir_item,3427024844),type,s_ifdir).
change(1,k(5,root_ref,306),object,null,present).
expect(4, 1, k(5,root_ref,306)).

% There is no entry by hash.
object(1,k(307,root_item,0)).
state(1,k(307,root_item,0),refs,1).
object(1,k(5,root_ref,307)).
state(1,k(5,root_ref,307),dirid,1307).
state(1,k(5,root_ref,307),sequence,2).
state(1,k(5,root_ref,307),name,'a').
state(1,k(5,root_ref,307),link,k(307,root_item,97)).
object(1,k(307,root_backref,5)).
state(1,k(307,root_backref,5),dirid,1307).
state(1,k(307,root_backref,5),sequence,2).
state(1,k(307,root_backref,5),name,'a').
state(1,k(307,root_backref,5),link,k(307,root_item,97)).
object(5,k(1307,dir_index,2)).
state(5,k(1307,dir_index,2),link,k(307,root_item,97)).
state(5,k(1307,dir_index,2),type,s_ifdir).
change(1,k(5,root_ref,307),object,null,present).
expect(4, 1, k(5,root_ref,307)).

% The entry by index has another name.
object(1,k(308,root_item,0)).
state(1,k(308,root_item,0),refs,1).
object(1,k(5,root_ref,308)).
state(1,k(5,root_ref,308),dirid,1308).
state(1,k(5,root_ref,308),sequence,2).
state(1,k(5,root_ref,308),name,'a').
state(1,k(5,root_ref,308),link,k(308,root_item,97)).
object(1,k(308,root_backref,5)).
state(1,k(308,root_backref,5),dirid,1308).
state(1,k(308,root_backref,5),sequence,2).
state(1,k(308,root_backref,5),name,'a').
state(1,k(308,root_backref,5),link,k(308,root_item,97)).
object(5,k(1308,dir_index,2)).
state(5,k(1308,dir_index,2),link,k(308,root_item,98)).
state(5,k(1308,dir_index,2),type,s_ifdir).
object(5,k(1308,dir_item,3427024844)).
state(5,k(1308,dir_item,3427024844),link,k(308,root_item,97)).
state(5,k(1308,dir_item,3427024844),type,s_ifdir).
change(1,k(5,root_ref,308),object,null,present).
expect(4, 1, k(5,root_ref,308)).

% The entry by hash has another name.
object(1,k(309,root_item,0)).
state(1,k(309,root_item,0),refs,1).
object(1,k(5,root_ref,309)).
state(1,k(5,root_ref,309),dirid,1309).
state(1,k(5,root_ref,309),sequence,2).
state(1,k(5,root_ref,309),name,'a').
state(1,k(5,root_ref,309),link,k(309,root_item,97)).
object(1,k(309,root_backref,5)).
state(1,k(309,root_backref,5),dirid,1309).
state(1,k(309,root_backref,5),sequence,2).
state(1,k(309,root_backref,5),name,'a').
state(1,k(309,root_backref,5),link,k(309,root_item,97)).
object(5,k(1309,dir_index,2)).
state(5,k(1309,dir_index,2),link,k(309,root_item,97)).
state(5,k(1309,dir_index,2),type,s_ifdir).
object(5,k(1309,dir_item,3427024844)).
state(5,k(1309,dir_item,3427024844),link,k(309,root_item,98)).
state(5,k(1309,dir_item,3427024844),type,s_ifdir).
change(1,k(5,root_ref,309),object,null,present).
expect(4, 1, k(5,root_ref,309)).

% The entry by hash has another hash in its key.
object(1,k(310,root_item,0)).
state(1,k(310,root_item,0),refs,1).
object(1,k(5,root_ref,310)).
state(1,k(5,root_ref,310),dirid,1310).
state(1,k(5,root_ref,310),sequence,2).
state(1,k(5,root_ref,310),name,'a').
state(1,k(5,root_ref,310),link,k(310,root_item,97)).
object(1,k(310,root_backref,5)).
state(1,k(310,root_backref,5),dirid,1310).
state(1,k(310,root_backref,5),sequence,2).
state(1,k(310,root_backref,5),name,'a').
state(1,k(310,root_backref,5),link,k(310,root_item,97)).
object(5,k(1310,dir_index,2)).
state(5,k(1310,dir_index,2),link,k(310,root_item,97)).
state(5,k(1310,dir_index,2),type,s_ifdir).
object(5,k(1310,dir_item,5)).
state(5,k(1310,dir_item,5),link,k(310,root_item,97)).
state(5,k(1310,dir_item,5),type,s_ifdir).
change(1,k(5,root_ref,310),object,null,present).
expect(4, 1, k(5,root_ref,310)).

% The subvolume is being dropped.
object(1,k(311,root_item,0)).
state(1,k(311,root_item,0),refs,0).
object(1,k(5,root_ref,311)).
state(1,k(5,root_ref,311),dirid,1311).
state(1,k(5,root_ref,311),sequence,2).
state(1,k(5,root_ref,311),name,'a').
state(1,k(5,root_ref,311),link,k(311,root_item,97)).
object(1,k(311,root_backref,5)).
state(1,k(311,root_backref,5),dirid,1311).
state(1,k(311,root_backref,5),sequence,2).
state(1,k(311,root_backref,5),name,'a').
state(1,k(311,root_backref,5),link,k(311,root_item,97)).
object(5,k(1311,dir_index,2)).
state(5,k(1311,dir_index,2),link,k(311,root_item,97)).
state(5,k(1311,dir_index,2),type,s_ifdir).
object(5,k(1311,dir_item,3427024844)).
state(5,k(1311,dir_item,3427024844),link,k(311,root_item,97)).
state(5,k(1311,dir_item,3427024844),type,s_ifdir).
change(1,k(5,root_ref,311),object,null,present).
expect(4, 1, k(5,root_ref,311)).

% A reference to a subvolume that does not exist; its entry is sound otherwise.
object(1,k(5,root_ref,312)).
state(1,k(5,root_ref,312),dirid,1312).
state(1,k(5,root_ref,312),sequence,2).
state(1,k(5,root_ref,312),name,'a').
state(1,k(5,root_ref,312),link,k(312,root_item,97)).
object(1,k(312,root_backref,5)).
state(1,k(312,root_backref,5),dirid,1312).
state(1,k(312,root_backref,5),sequence,2).
state(1,k(312,root_backref,5),name,'a').
state(1,k(312,root_backref,5),link,k(312,root_item,97)).
object(5,k(1312,dir_index,2)).
state(5,k(1312,dir_index,2),link,k(312,root_item,97)).
state(5,k(1312,dir_index,2),type,s_ifdir).
object(5,k(1312,dir_item,3427024844)).
state(5,k(1312,dir_item,3427024844),link,k(312,root_item,97)).
state(5,k(1312,dir_item,3427024844),type,s_ifdir).
change(1,k(5,root_ref,312),object,null,present).
expect(4, 1, k(5,root_ref,312)).
