% A file tree gets a cache of inode numbers.
rule(66).
change(5,k(-12,inode_item,0),object,null,present).
object(5,k(-12,inode_item,0)).
expect(66, 5, k(-12,inode_item,0)).
