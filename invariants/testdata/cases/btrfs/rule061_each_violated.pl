% The UUID tree has no entry for the received_uuid of a subvolume.
rule(61).
object(0,k(0,super_block,0)).
state(0,k(0,super_block,0),generation,7).
state(0,k(0,super_block,0),uuid_tree_generation,7).
change(1,k(300,root_item,0),object,present,present).
change(1,k(300,root_item,0),received_uuid,k(0,uuid_key_received_subvol,0),k(11,uuid_key_received_subvol,22)).
object(1,k(300,root_item,0)).
state(1,k(300,root_item,0),received_uuid,k(11,uuid_key_received_subvol,22)).
state(1,k(300,root_item,0),refs,1).
expect(61, 1, k(300,root_item,0)).

% The UUID tree gets a subvolume that does not exist, and one that has another uuid.
change(9,k(12,uuid_key_subvol,22),object,null,present).
change(9,k(12,uuid_key_subvol,22),root,null,301).
object(9,k(12,uuid_key_subvol,22)).
state(9,k(12,uuid_key_subvol,22),root,301).
object(1,k(302,root_item,0)).
state(1,k(302,root_item,0),refs,1).
state(1,k(302,root_item,0),uuid,k(99,uuid_key_subvol,22)).
change(9,k(13,uuid_key_subvol,22),object,null,present).
change(9,k(13,uuid_key_subvol,22),root,null,302).
object(9,k(13,uuid_key_subvol,22)).
state(9,k(13,uuid_key_subvol,22),root,302).
object(1,k(303,root_item,0)).
state(1,k(303,root_item,0),refs,1).
state(1,k(303,root_item,0),received_uuid,k(99,uuid_key_received_subvol,22)).
change(9,k(14,uuid_key_received_subvol,22),object,null,present).
change(9,k(14,uuid_key_received_subvol,22),root,null,303).
object(9,k(14,uuid_key_received_subvol,22)).
state(9,k(14,uuid_key_received_subvol,22),root,303).
expect(61, 9, k(12,uuid_key_subvol,22)).
expect(61, 9, k(13,uuid_key_subvol,22)).
expect(61, 9, k(14,uuid_key_received_subvol,22)).

% The entry of a subvolume is removed from the UUID tree.
object(1,k(304,root_item,0)).
state(1,k(304,root_item,0),refs,1).
state(1,k(304,root_item,0),uuid,k(15,uuid_key_subvol,22)).
change(9,k(15,uuid_key_subvol,22),object,present,null).
change(9,k(15,uuid_key_subvol,22),root,304,null).
object(1,k(305,root_item,0)).
state(1,k(305,root_item,0),refs,1).
state(1,k(305,root_item,0),received_uuid,k(16,uuid_key_received_subvol,22)).
change(9,k(16,uuid_key_received_subvol,22),object,present,null).
change(9,k(16,uuid_key_received_subvol,22),root,305,null).
expect(61, 1, k(304,root_item,0)).
expect(61, 1, k(305,root_item,0)).
