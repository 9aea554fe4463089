% The block of extended attributes of an inode is not marked.
rule(1).
change(xattr_owner,a(900,12),object,null,present).
object(xattr_owner,a(900,12)).
expect(1, xattr_owner, a(900,12)).
