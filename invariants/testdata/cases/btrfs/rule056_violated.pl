% A subvolume has no root directory.
rule(56).
change(1,k(256,root_item,0),object,null,present).
change(1,k(256,root_item,0),root_dirid,null,256).
object(1,k(256,root_item,0)).
state(1,k(256,root_item,0),refs,1).
expect(56, 1, k(256,root_item,0)).
