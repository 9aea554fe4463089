% 9000 groups have 282 blocks of descriptors: more than one block can name, so the places wrap
% around.
rule(24).
object(superblock,0).
state(superblock,0,first_ino,11).
state(superblock,0,log_block_size,0).
state(superblock,0,feature_compat,60).
state(superblock,0,feature_incompat,2).
state(superblock,0,feature_ro_compat,1).
state(superblock,0,rev_level,1).
state(superblock,0,reserved_gdt_blocks,2).
state(superblock,0,journal_inum,8).
state(superblock,0,inodes_count,2000).
state(superblock,0,inode_size,128).
state(superblock,0,first_data_block,1).
state(superblock,0,blocks_per_group,256).
state(superblock,0,blocks_count,2304001).
state(superblock,0,r_blocks_count,1000).
change(owner,k(900,owner,a(7,2199023255820)),object,null,present).
change(owner,k(284,owner,a(7,1099511634700)),object,null,present).
change(owner,k(540,owner,a(7,6924)),object,null,present).
change(owner,k(1052,owner,a(7,6925)),object,null,present).
change(owner,k(1564,owner,a(7,6926)),object,null,present).
change(owner,k(2076,owner,a(7,6927)),object,null,present).
change(owner,k(2588,owner,a(7,6928)),object,null,present).
change(owner,k(6684,owner,a(7,6929)),object,null,present).
expect_none.
