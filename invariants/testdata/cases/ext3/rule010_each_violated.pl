% Each count of a group is wrong: an inode is allocated and not counted, or counted and not
% allocated; a directory is created, or removed, and not counted.
rule(10).
object(group,0).
object(group,1).
object(group,2).
object(group,3).
object(group,4).
object(group,5).
change(group,0,free_inodes_count,100,100).
change(inode_bit,12,object,null,present).
change(inode_bit,12,inode_group,null,0).
object(inode_bit,12).
state(inode_bit,12,inode_group,0).
change(group,1,free_inodes_count,100,101).
change(group,2,used_dirs_count,5,5).
change(inode,16400,object,null,present).
change(inode,16400,dir_group,null,2).
object(inode,16400).
state(inode,16400,dir_group,2).
change(group,3,used_dirs_count,5,4).
change(group,4,free_blocks_count,100,99).
change(block,a(40000,1),object,present,null).
change(block,a(40000,1),group,4,null).
expect(10, group, 0).
expect(10, group, 1).
expect(10, group, 2).
expect(10, group, 3).
expect(10, group, 4).
