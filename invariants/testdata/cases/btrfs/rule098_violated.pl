% Names in a log, and a directory entry, with an index that is too high by one.
rule(98).
change(-6,k(257,inode_ref,a(256,9223372036854775808)),object,null,present).
change(-6,k(257,inode_extref,a(256,9223372036854775809)),object,null,present).
change(5,k(256,dir_index,9223372036854775808),object,null,present).
expect(98, -6, k(257,inode_ref,a(256,9223372036854775808))).
expect(98, -6, k(257,inode_extref,a(256,9223372036854775809))).
expect(98, 5, k(256,dir_index,9223372036854775808)).
