% Names with the highest possible index, in a log and in a tree.
rule(98).
change(-6,k(257,inode_ref,a(256,9223372036854775807)),object,null,present).
change(-6,k(257,inode_extref,a(256,9223372036854775807)),object,null,present).
change(5,k(256,dir_index,9223372036854775807),object,null,present).
expect_none.
