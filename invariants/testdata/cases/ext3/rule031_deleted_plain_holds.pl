% Without the feature, the inodes have no use.
rule(31).
change(inode,3,object,present,null).
change(inode,3,links_count,1,null).
change(inode,4,object,present,null).
change(inode,4,links_count,1,null).
object(superblock,0).
state(superblock,0,first_ino,11).
state(superblock,0,feature_compat,60).
state(superblock,0,feature_incompat,2).
state(superblock,0,feature_ro_compat,1).
state(superblock,0,rev_level,1).
state(superblock,0,reserved_gdt_blocks,0).
state(superblock,0,journal_inum,8).
state(superblock,0,usr_quota_inum,3).
state(superblock,0,grp_quota_inum,4).
state(superblock,0,prj_quota_inum,0).
expect_none.
