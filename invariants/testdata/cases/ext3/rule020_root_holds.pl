% The '..' of the root leads to a directory below it. Rule 19 is about this, and the way up ends at
% the root.
rule(20).
object(dirent,a(2,'..')).
state(dirent,a(2,'..'),inode,45).
change(dirent,a(2,'..'),inode,2,45).
object(dirent,a(45,'..')).
state(dirent,a(45,'..'),inode,44).
change(dirent,a(45,'..'),inode,3,44).
object(dirent,a(44,'..')).
state(dirent,a(44,'..'),inode,2).
change(dirent,a(44,'..'),inode,3,2).
expect_none.
