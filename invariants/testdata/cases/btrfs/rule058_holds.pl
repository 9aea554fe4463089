% A subvolume was changed in this transaction.
rule(58).
change(1,k(256,root_item,0),object,present,present).
change(1,k(256,root_item,0),ctransid,6,7).
object(0,k(0,super_block,0)).
state(0,k(0,super_block,0),generation,7).
expect_none.
