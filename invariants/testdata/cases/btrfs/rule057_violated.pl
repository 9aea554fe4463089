% A subvolume with a reference is being dropped.
rule(57).
change(1,k(256,root_item,0),object,present,present).
change(1,k(256,root_item,0),drop_progress,k(0,free_space_header,0),k(300,inode_item,0)).
object(1,k(256,root_item,0)).
state(1,k(256,root_item,0),refs,1).
expect(57, 1, k(256,root_item,0)).
