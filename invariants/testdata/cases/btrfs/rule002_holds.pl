% A subvolume gets its name and a reference.
rule(2).
change(1,k(256,root_item,0),object,null,present).
change(1,k(256,root_item,0),refs,null,1).
change(1,k(256,root_backref,5),object,null,present).
object(1,k(256,root_item,0)).
object(1,k(256,root_backref,5)).
expect_none.
