% Features and marks change as Linux changes them: ext_attr, large_file, meta_bg, an error that is
% counted, orphans.
rule(29).
change(superblock,0,object,present,present).
change(superblock,0,feature_compat,60,44).
change(superblock,0,object,present,present).
change(superblock,0,feature_incompat,6,18).
change(superblock,0,object,present,present).
change(superblock,0,feature_ro_compat,1,3).
change(superblock,0,object,present,present).
change(superblock,0,state,1,7).
change(superblock,0,object,present,present).
change(superblock,0,error_count,0,1).
change(superblock,0,object,present,present).
change(superblock,0,rev_level,0,1).
change(superblock,0,object,present,present).
change(superblock,0,f(flags,hash),0,2).
object(superblock,0).
state(superblock,0,first_ino,11).
state(superblock,0,log_block_size,2).
state(superblock,0,feature_compat,60).
state(superblock,0,feature_incompat,2).
state(superblock,0,feature_ro_compat,1).
state(superblock,0,rev_level,1).
state(superblock,0,reserved_gdt_blocks,0).
state(superblock,0,journal_inum,8).
state(superblock,0,inodes_count,2000).
expect_none.
