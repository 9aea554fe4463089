% A deleted subvolume has an orphan item.
rule(3).
change(1,k(256,root_item,0),object,present,present).
change(1,k(256,root_item,0),refs,1,0).
change(1,k(-5,orphan_item,256),object,null,present).
object(1,k(256,root_item,0)).
state(1,k(256,root_item,0),refs,0).
object(1,k(-5,orphan_item,256)).
expect_none.
