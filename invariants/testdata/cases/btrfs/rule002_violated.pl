% A subvolume gets a reference and no name.
rule(2).
change(1,k(256,root_item,0),object,present,present).
change(1,k(256,root_item,0),refs,1,2).
object(1,k(256,root_item,0)).
expect(2, 1, k(256,root_item,0)).
