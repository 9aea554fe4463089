% A subvolume is created, and is not being dropped. Balance stores its progress in the drop_progress
% of its tree (merge_reloc_root).
rule(57).
change(1,k(300,root_item,0),object,null,present).
change(1,k(300,root_item,0),refs,null,1).
change(1,k(300,root_item,0),drop_progress,null,k(0,free_space_header,0)).
object(1,k(300,root_item,0)).
state(1,k(300,root_item,0),refs,1).
state(1,k(300,root_item,0),drop_progress,k(0,free_space_header,0)).
change(1,k(-8,root_item,300),object,present,present).
change(1,k(-8,root_item,300),drop_progress,k(0,free_space_header,0),k(257,inode_item,0)).
object(1,k(-8,root_item,300)).
state(1,k(-8,root_item,300),drop_progress,k(257,inode_item,0)).
state(1,k(-8,root_item,300),refs,1).
expect_none.
