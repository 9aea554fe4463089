% An inode with a link is not marked in the bitmap.
rule(6).
change(inode,12,object,null,present).
change(inode,12,links_count,null,1).
object(inode,12).
state(inode,12,links_count,1).
expect(6, inode, 12).
