% The bitmap does not mark the extended attribute block of an inode.
rule(1).
change(xattr_owner,a(900,12),object,null,present).
object(xattr_owner,a(900,12)).
expect(1, xattr_owner, a(900,12)).
