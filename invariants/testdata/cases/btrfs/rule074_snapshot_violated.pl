% A snapshot is made, and takes no reference to the second block below its root.
rule(74).
change(1,k(257,root_item,9),object,null,present).
change(1,k(257,root_item,9),level,null,1).
change(1,k(257,root_item,9),bytenr,null,65536).
object(1,k(257,root_item,9)).
state(1,k(257,root_item,9),refs,1).
object(-1,k(65536,block_pointers,81920)).
object(-1,k(65536,block_pointers,98304)).
object(2,k(81920,tree_block_ref,256)).
object(2,k(81920,tree_block_ref,257)).
object(2,k(98304,tree_block_ref,256)).
expect(74, 2, k(98304,tree_block_ref,257)).
