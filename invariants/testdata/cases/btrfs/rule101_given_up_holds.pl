% Power was cut in a balance. Its relocation tree for 256 is removed, and releases blocks that 256
% led to.
rule(101).
change(2,k(65536,tree_block_ref,256),object,present,null).
object(2,k(65536,metadata_item,0)).
state(2,k(65536,metadata_item,0),f(flags,full_backref),0).
object(-1,k(65536,block,0)).
state(-1,k(65536,block,0),owner,256).
object(1,k(-8,root_item,256)).
state(1,k(-8,root_item,256),refs,0).
expect_none.
