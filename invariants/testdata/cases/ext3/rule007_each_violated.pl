% The link counts of the root and of the first unreserved inode change without an entry; two names
% are counted as one.
rule(7).
object(superblock,0).
state(superblock,0,first_ino,11).
change(inode,2,object,present,present).
change(inode,2,links_count,3,4).
object(inode,2).
state(inode,2,links_count,4).
change(inode,11,object,present,present).
change(inode,11,links_count,2,3).
object(inode,11).
state(inode,11,links_count,3).
change(inode,12,object,present,present).
change(inode,12,links_count,0,1).
object(inode,12).
state(inode,12,links_count,1).
change(dirent,a(2,'a'),object,null,present).
change(dirent,a(2,'a'),inode,null,12).
object(dirent,a(2,'a')).
state(dirent,a(2,'a'),inode,12).
change(dirent,a(2,'b'),object,null,present).
change(dirent,a(2,'b'),inode,null,12).
object(dirent,a(2,'b')).
state(dirent,a(2,'b'),inode,12).
expect(7, inode, 2).
expect(7, inode, 11).
expect(7, inode, 12).
