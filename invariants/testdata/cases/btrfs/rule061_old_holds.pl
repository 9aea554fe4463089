% A kernel that does not know the UUID tree has written the file system. The rule says nothing until
% the tree is complete again.
rule(61).
object(0,k(0,super_block,0)).
state(0,k(0,super_block,0),generation,7).
state(0,k(0,super_block,0),uuid_tree_generation,6).
change(1,k(300,root_item,0),object,present,present).
change(1,k(300,root_item,0),uuid,k(0,uuid_key_subvol,0),k(11,uuid_key_subvol,22)).
object(1,k(300,root_item,0)).
state(1,k(300,root_item,0),uuid,k(11,uuid_key_subvol,22)).
state(1,k(300,root_item,0),refs,1).
change(9,k(12,uuid_key_subvol,22),object,null,present).
change(9,k(12,uuid_key_subvol,22),root,null,301).
object(9,k(12,uuid_key_subvol,22)).
state(9,k(12,uuid_key_subvol,22),root,301).
object(1,k(304,root_item,0)).
state(1,k(304,root_item,0),refs,1).
state(1,k(304,root_item,0),uuid,k(15,uuid_key_subvol,22)).
change(9,k(15,uuid_key_subvol,22),object,present,null).
change(9,k(15,uuid_key_subvol,22),root,304,null).
expect_none.
