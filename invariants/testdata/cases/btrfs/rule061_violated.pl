% The UUID tree has another subvolume for the uuid.
rule(61).
change(1,k(256,root_item,0),object,null,present).
change(1,k(256,root_item,0),uuid,null,k(11,uuid_key_subvol,22)).
object(0,k(0,super_block,0)).
state(0,k(0,super_block,0),generation,7).
state(0,k(0,super_block,0),uuid_tree_generation,7).
object(1,k(256,root_item,0)).
state(1,k(256,root_item,0),refs,1).
state(1,k(256,root_item,0),uuid,k(11,uuid_key_subvol,22)).

object(9,k(11,uuid_key_subvol,22)).
state(9,k(11,uuid_key_subvol,22),root,257).
expect(61, 1, k(256,root_item,0)).
