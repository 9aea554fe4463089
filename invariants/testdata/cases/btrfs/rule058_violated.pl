% A subvolume was changed in a transaction that has not been.
rule(58).
change(1,k(256,root_item,0),object,present,present).
change(1,k(256,root_item,0),ctransid,6,8).
object(0,k(0,super_block,0)).
state(0,k(0,super_block,0),generation,7).
expect(58, 1, k(256,root_item,0)).
