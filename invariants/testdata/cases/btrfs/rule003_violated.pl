% A subvolume that is being dropped loses its orphan item.
rule(3).
change(1,k(-5,orphan_item,256),object,present,null).
object(1,k(256,root_item,0)).
state(1,k(256,root_item,0),refs,0).
expect(3, 1, k(256,root_item,0)).
