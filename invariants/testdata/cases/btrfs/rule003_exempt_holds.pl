% The relocation tree has refs 0 while it is removed (merge_reloc_roots), and has no orphan item.
rule(3).
change(1,k(-8,root_item,256),object,present,present).
change(1,k(-8,root_item,256),refs,1,0).
object(1,k(-8,root_item,256)).
state(1,k(-8,root_item,256),refs,0).
expect_none.
