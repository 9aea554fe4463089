% A subvolume that is not the default is dropped; the default gets another name.
rule(59).
object(1,k(6,dir_item,2378154706)).
state(1,k(6,dir_item,2378154706),link,k(301,root_item,5)).
change(1,k(300,root_item,0),object,present,present).
change(1,k(300,root_item,0),refs,1,0).
object(1,k(300,root_item,0)).
state(1,k(300,root_item,0),refs,0).
change(1,k(301,root_item,0),object,present,present).
change(1,k(301,root_item,0),refs,2,1).
object(1,k(301,root_item,0)).
state(1,k(301,root_item,0),refs,1).
expect_none.
