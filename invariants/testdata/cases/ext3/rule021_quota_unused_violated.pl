% Inodes 3 and 4 are made, and are no quota files.
rule(21).
change(inode,3,object,null,present).
change(inode,3,links_count,null,1).
change(inode,3,f(mode,s_ifmt),null,s_ifreg).
change(inode,4,object,null,present).
change(inode,4,links_count,null,1).
change(inode,4,f(mode,s_ifmt),null,s_ifreg).
object(superblock,0).
state(superblock,0,first_ino,11).
state(superblock,0,feature_compat,60).
state(superblock,0,feature_incompat,2).
state(superblock,0,feature_ro_compat,257).
state(superblock,0,rev_level,1).
state(superblock,0,reserved_gdt_blocks,0).
state(superblock,0,journal_inum,8).
state(superblock,0,usr_quota_inum,0).
state(superblock,0,grp_quota_inum,0).
state(superblock,0,prj_quota_inum,0).
object(inode,3).
state(inode,3,links_count,1).
state(inode,3,f(mode,s_ifmt),s_ifreg).
object(inode,4).
state(inode,4,links_count,1).
state(inode,4,f(mode,s_ifmt),s_ifreg).
expect(21, inode, 3).
expect(21, inode, 4).
