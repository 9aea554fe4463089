% The link count grows without an entry.
rule(7).
change(inode,12,object,present,present).
change(inode,12,links_count,1,2).
object(superblock,0).
state(superblock,0,first_ino,11).
object(inode,12).
state(inode,12,links_count,2).
expect(7, inode, 12).
