% A received subvolume is created.
rule(61).
object(0,k(0,super_block,0)).
state(0,k(0,super_block,0),generation,7).
state(0,k(0,super_block,0),uuid_tree_generation,7).
change(1,k(300,root_item,0),object,null,present).
change(1,k(300,root_item,0),refs,null,1).
change(1,k(300,root_item,0),uuid,null,k(11,uuid_key_subvol,22)).
change(1,k(300,root_item,0),received_uuid,null,k(12,uuid_key_received_subvol,22)).
change(1,k(300,root_item,0),drop_progress,null,k(0,free_space_header,0)).
object(1,k(300,root_item,0)).
state(1,k(300,root_item,0),refs,1).
state(1,k(300,root_item,0),uuid,k(11,uuid_key_subvol,22)).
state(1,k(300,root_item,0),received_uuid,k(12,uuid_key_received_subvol,22)).
state(1,k(300,root_item,0),drop_progress,k(0,free_space_header,0)).
change(9,k(11,uuid_key_subvol,22),object,null,present).
change(9,k(11,uuid_key_subvol,22),root,null,300).
object(9,k(11,uuid_key_subvol,22)).
state(9,k(11,uuid_key_subvol,22),root,300).
change(9,k(12,uuid_key_received_subvol,22),object,null,present).
change(9,k(12,uuid_key_received_subvol,22),root,null,300).
object(9,k(12,uuid_key_received_subvol,22)).
state(9,k(12,uuid_key_received_subvol,22),root,300).

% A subvolume is deleted and removed from the UUID tree. Its root item stays until its tree is
% dropped.
change(1,k(301,root_item,0),object,present,present).
change(1,k(301,root_item,0),refs,1,0).
object(1,k(301,root_item,0)).
state(1,k(301,root_item,0),refs,0).
state(1,k(301,root_item,0),uuid,k(13,uuid_key_subvol,22)).
change(9,k(13,uuid_key_subvol,22),object,present,null).
change(9,k(13,uuid_key_subvol,22),root,301,null).
change(1,k(302,root_item,0),object,present,present).
change(1,k(302,root_item,0),uuid,k(0,uuid_key_subvol,0),k(14,uuid_key_subvol,22)).
object(1,k(302,root_item,0)).
state(1,k(302,root_item,0),uuid,k(14,uuid_key_subvol,22)).
state(1,k(302,root_item,0),refs,0).

% A tree that is not a subvolume has a uuid. A received subvolume gets another received_uuid, and
% the entry of the old one is removed.
change(1,k(9,root_item,0),object,null,present).
change(1,k(9,root_item,0),refs,null,1).
change(1,k(9,root_item,0),uuid,null,k(15,uuid_key_subvol,22)).
object(1,k(9,root_item,0)).
state(1,k(9,root_item,0),refs,1).
state(1,k(9,root_item,0),uuid,k(15,uuid_key_subvol,22)).
change(1,k(303,root_item,0),object,present,present).
change(1,k(303,root_item,0),received_uuid,k(16,uuid_key_received_subvol,22),k(17,uuid_key_received_subvol,22)).
object(1,k(303,root_item,0)).
state(1,k(303,root_item,0),received_uuid,k(17,uuid_key_received_subvol,22)).
state(1,k(303,root_item,0),refs,1).
change(9,k(16,uuid_key_received_subvol,22),object,present,null).
change(9,k(16,uuid_key_received_subvol,22),root,303,null).
change(9,k(17,uuid_key_received_subvol,22),object,null,present).
change(9,k(17,uuid_key_received_subvol,22),root,null,303).
object(9,k(17,uuid_key_received_subvol,22)).
state(9,k(17,uuid_key_received_subvol,22),root,303).
expect_none.
