% A block is used for a file and for extended attributes. Two inodes share another extended
% attribute block.
rule(5).
change(owner,k(900,owner,a(12,0)),object,null,present).
change(owner,k(900,owner,a(12,0)),length,null,1).
object(owner,k(900,owner,a(12,0))).
change(xattr_owner,a(900,13),object,null,present).
object(xattr_owner,a(900,13)).
change(xattr_owner,a(901,12),object,null,present).
object(xattr_owner,a(901,12)).
change(xattr_owner,a(901,13),object,null,present).
object(xattr_owner,a(901,13)).
object(owner,k(901,owner,a(14,0))).
expect(5, owner, k(900,owner,a(12,0))).
