% The rule says nothing about these fields of a tree that is not a subvolume.
rule(58).
object(0,k(0,super_block,0)).
state(0,k(0,super_block,0),generation,7).
change(1,k(9,root_item,0),object,present,present).
change(1,k(9,root_item,0),otransid,6,8).
object(1,k(9,root_item,0)).
state(1,k(9,root_item,0),otransid,8).
expect_none.
