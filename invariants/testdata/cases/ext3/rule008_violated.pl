% An entry names an inode that nothing uses.
rule(8).
change(dirent,a(2,'b'),object,null,present).
change(dirent,a(2,'b'),inode,null,12).
expect(8, dirent, a(2,'b')).
