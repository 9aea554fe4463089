% A second inode shares an attribute block, and the refcount grows.
rule(12).
change(xattr_block,700,object,present,present).
change(xattr_block,700,refcount,1,2).
change(xattr_owner,a(700,13),object,null,present).
object(xattr_block,700).
expect_none.
