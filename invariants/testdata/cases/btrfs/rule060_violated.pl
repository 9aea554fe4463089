% A free space cache has no file.
rule(60).
change(1,k(-11,free_space_header,30408704),object,null,present).
change(1,k(-11,free_space_header,30408704),location,null,k(256,inode_item,0)).
object(1,k(-11,free_space_header,30408704)).
expect(60, 1, k(-11,free_space_header,30408704)).
