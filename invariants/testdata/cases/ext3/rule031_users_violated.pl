% The quota file of users is named with another inode.
rule(31).
change(superblock,0,object,present,present).
change(superblock,0,usr_quota_inum,3,12).
object(superblock,0).
state(superblock,0,first_ino,11).
state(superblock,0,feature_compat,60).
state(superblock,0,feature_incompat,2).
state(superblock,0,feature_ro_compat,257).
state(superblock,0,rev_level,1).
state(superblock,0,reserved_gdt_blocks,0).
state(superblock,0,journal_inum,8).
state(superblock,0,usr_quota_inum,12).
state(superblock,0,grp_quota_inum,4).
state(superblock,0,prj_quota_inum,0).
object(inode,3).
state(inode,3,links_count,1).
state(inode,3,f(mode,s_ifmt),s_ifreg).
object(inode,4).
state(inode,4,links_count,1).
state(inode,4,f(mode,s_ifmt),s_ifreg).
expect(31, superblock, 0).
