% An inode is allocated and another is freed, a directory is created and two are removed, and blocks
% are freed.
rule(10).
object(group,0).
object(group,1).
change(group,0,free_inodes_count,100,100).
change(inode_bit,12,object,null,present).
change(inode_bit,12,inode_group,null,0).
object(inode_bit,12).
state(inode_bit,12,inode_group,0).
change(inode_bit,13,object,present,null).
change(inode_bit,13,inode_group,0,null).
change(group,0,used_dirs_count,5,4).
change(inode,12,object,null,present).
change(inode,12,dir_group,null,0).
object(inode,12).
state(inode,12,dir_group,0).
change(inode,13,object,present,null).
change(inode,13,dir_group,0,null).
change(inode,14,object,present,null).
change(inode,14,dir_group,0,null).
change(group,1,free_blocks_count,100,102).
change(block,a(9000,1),object,present,null).
change(block,a(9000,1),group,1,null).
change(block,a(9001,1),object,present,null).
change(block,a(9001,1),group,1,null).
expect_none.
