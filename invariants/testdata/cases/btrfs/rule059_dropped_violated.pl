% The default subvolume is dropped.
rule(59).
object(1,k(6,dir_item,2378154706)).
state(1,k(6,dir_item,2378154706),link,k(300,root_item,5)).
change(1,k(300,root_item,0),object,present,present).
change(1,k(300,root_item,0),refs,1,0).
object(1,k(300,root_item,0)).
state(1,k(300,root_item,0),refs,0).
expect(59, 1, k(6,dir_item,2378154706)).
