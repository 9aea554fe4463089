% A file grows and becomes immutable, a link has a size, a pipe is created.
rule(18).
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
change(inode,12,object,present,present).
change(inode,12,size,0,5).
change(inode,12,f(flags,immutable),0,1).
object(inode,12).
state(inode,12,size,5).
state(inode,12,f(flags,immutable),1).
state(inode,12,f(mode,s_ifmt),s_ifreg).
change(inode,13,object,null,present).
change(inode,13,f(mode,s_ifmt),null,s_iflnk).
change(inode,13,size,null,6).
object(inode,13).
state(inode,13,f(mode,s_ifmt),s_iflnk).
state(inode,13,size,6).
change(inode,14,object,null,present).
change(inode,14,f(mode,s_ifmt),null,s_ififo).
change(inode,14,size,null,0).
object(inode,14).
state(inode,14,f(mode,s_ifmt),s_ififo).
state(inode,14,size,0).

% The owner of a pipe, which had a size before, changes. A directory with an index is created, and a
% file is deleted.
change(inode,15,object,present,present).
change(inode,15,uid,0,1).
object(inode,15).
state(inode,15,uid,1).
state(inode,15,f(mode,s_ifmt),s_ififo).
state(inode,15,size,1).
change(inode,16,object,null,present).
change(inode,16,f(mode,s_ifmt),null,s_ifdir).
change(inode,16,f(flags,index),null,1).
object(inode,16).
state(inode,16,f(mode,s_ifmt),s_ifdir).
state(inode,16,f(flags,index),1).
change(inode,17,object,present,null).
change(inode,17,f(mode,s_ifmt),s_ifreg,null).
change(inode,17,size,5,null).

% An append-only file with contents is created; a link gets another size. A pipe loses the size that
% it had.
change(inode,18,object,null,present).
change(inode,18,f(mode,s_ifmt),null,s_ifreg).
change(inode,18,size,null,5).
change(inode,18,f(flags,append),null,1).
object(inode,18).
state(inode,18,f(mode,s_ifmt),s_ifreg).
state(inode,18,size,5).
state(inode,18,f(flags,append),1).
change(inode,19,object,present,present).
change(inode,19,size,5,6).
object(inode,19).
state(inode,19,f(mode,s_ifmt),s_iflnk).
state(inode,19,size,6).
change(inode,20,object,present,present).
change(inode,20,size,5,0).
object(inode,20).
state(inode,20,f(mode,s_ifmt),s_ififo).
state(inode,20,size,0).

% Files become directories, one of them with an index, and a directory becomes a file without an
% index.
change(inode,21,object,present,present).
change(inode,21,f(mode,s_ifmt),s_ifreg,s_ifdir).
object(inode,21).
state(inode,21,f(mode,s_ifmt),s_ifdir).
state(inode,21,f(flags,index),0).
change(inode,22,object,present,present).
change(inode,22,f(mode,s_ifmt),s_ifreg,s_ifdir).
object(inode,22).
state(inode,22,f(mode,s_ifmt),s_ifdir).
state(inode,22,f(flags,index),1).
change(inode,23,object,present,present).
change(inode,23,f(mode,s_ifmt),s_ifdir,s_ifreg).
object(inode,23).
state(inode,23,f(mode,s_ifmt),s_ifreg).
state(inode,23,f(flags,index),0).
expect_none.
