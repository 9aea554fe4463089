% Each type of inode without contents gets a size.
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
change(inode,12,size,0,1).
object(inode,12).
state(inode,12,size,1).
state(inode,12,f(mode,s_ifmt),s_ifchr).
change(inode,13,object,present,present).
change(inode,13,size,0,1).
object(inode,13).
state(inode,13,size,1).
state(inode,13,f(mode,s_ifmt),s_ifblk).
change(inode,14,object,present,present).
change(inode,14,size,0,1).
object(inode,14).
state(inode,14,size,1).
state(inode,14,f(mode,s_ifmt),s_ififo).
change(inode,15,object,present,present).
change(inode,15,size,0,1).
object(inode,15).
state(inode,15,size,1).
state(inode,15,f(mode,s_ifmt),s_ifsock).
expect(18, inode, 12).
expect(18, inode, 13).
expect(18, inode, 14).
expect(18, inode, 15).

% A symbolic link becomes immutable, and a pipe append-only. An immutable or append-only file
% becomes a link, and a file with contents becomes a pipe.
change(inode,20,object,present,present).
change(inode,20,f(flags,immutable),0,1).
object(inode,20).
state(inode,20,f(flags,immutable),1).
state(inode,20,f(mode,s_ifmt),s_iflnk).
change(inode,21,object,present,present).
change(inode,21,f(flags,append),0,1).
object(inode,21).
state(inode,21,f(flags,append),1).
state(inode,21,f(mode,s_ifmt),s_ififo).
change(inode,22,object,present,present).
change(inode,22,f(mode,s_ifmt),s_ifreg,s_iflnk).
object(inode,22).
state(inode,22,f(mode,s_ifmt),s_iflnk).
state(inode,22,f(flags,immutable),1).
change(inode,23,object,present,present).
change(inode,23,f(mode,s_ifmt),s_ifreg,s_iflnk).
object(inode,23).
state(inode,23,f(mode,s_ifmt),s_iflnk).
state(inode,23,f(flags,append),1).
change(inode,24,object,present,present).
change(inode,24,f(mode,s_ifmt),s_ifreg,s_ififo).
object(inode,24).
state(inode,24,f(mode,s_ifmt),s_ififo).
state(inode,24,size,1).
expect(18, inode, 20).
expect(18, inode, 21).
expect(18, inode, 22).
expect(18, inode, 23).
expect(18, inode, 24).

% A directory with an index becomes a file.
change(inode,25,object,present,present).
change(inode,25,f(mode,s_ifmt),s_ifdir,s_ifreg).
object(inode,25).
state(inode,25,f(mode,s_ifmt),s_ifreg).
state(inode,25,f(flags,index),1).
expect(18, inode, 25).
