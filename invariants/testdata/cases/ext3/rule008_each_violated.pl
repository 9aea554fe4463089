% A new entry leads to an inode without links, and an existing entry changes to another inode
% without links.
rule(8).
object(inode,12).
state(inode,12,links_count,0).
change(dirent,a(2,'a'),object,null,present).
change(dirent,a(2,'a'),inode,null,12).
object(dirent,a(2,'a')).
state(dirent,a(2,'a'),inode,12).
change(dirent,a(2,'b'),object,present,present).
change(dirent,a(2,'b'),inode,13,14).
object(dirent,a(2,'b')).
state(dirent,a(2,'b'),inode,14).
expect(8, dirent, a(2,'a')).
expect(8, dirent, a(2,'b')).
