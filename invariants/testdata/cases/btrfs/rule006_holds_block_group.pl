% A block group is added whose key is within an extent that is added. Rule 6 is about extents.
rule(6).
change(2,k(65536,extent_item,20480),object,null,present).
change(2,k(69632,block_group_item,1048576),object,null,present).
object(2,k(65536,extent_item,20480)).
object(2,k(69632,block_group_item,1048576)).
expect_none.
