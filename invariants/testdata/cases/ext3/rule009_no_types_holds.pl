% The file system lacks the feature filetype, so entries have no types: a file becomes a pipe.
rule(9).
object(superblock,0).
state(superblock,0,feature_incompat,4).
change(inode,12,object,present,present).
change(inode,12,f(mode,s_ifmt),s_ifreg,s_ififo).
object(inode,12).
state(inode,12,f(mode,s_ifmt),s_ififo).
state(inode,12,links_count,1).
expect_none.
