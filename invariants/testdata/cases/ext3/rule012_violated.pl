% The refcount of an attribute block grows, and no inode is added.
rule(12).
change(xattr_block,700,object,present,present).
change(xattr_block,700,refcount,1,2).
object(xattr_block,700).
expect(12, xattr_block, 700).
