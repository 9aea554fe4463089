% One block fewer is reserved.
rule(25).
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
state(superblock,0,blocks_count,12801).
state(superblock,0,r_blocks_count,1000).
object(inode,7).
state(inode,7,f(mode,s_ifmt),s_ifreg).
state(inode,7,links_count,1).
state(inode,7,blocks,56).
change(superblock,0,reserved_gdt_blocks,3,2).
expect(25, inode, 7).
