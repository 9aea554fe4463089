% A file becomes a pipe, and its entry does not change.
rule(9).
object(superblock,0).
state(superblock,0,feature_incompat,6).
change(inode,12,object,present,present).
change(inode,12,f(mode,s_ifmt),s_ifreg,s_ififo).
object(inode,12).
state(inode,12,f(mode,s_ifmt),s_ififo).
state(inode,12,links_count,1).
expect(9, inode, 12).
