% A block moves from one file to another. Two inodes share an extended attribute block, which the
% bitmap marks.
rule(1).
change(owner,k(900,owner,a(12,0)),object,present,null).
change(owner,k(900,owner,a(12,0)),length,1,null).
change(owner,k(900,owner,a(13,4)),object,null,present).
change(owner,k(900,owner,a(13,4)),length,null,1).
object(owner,k(900,owner,a(13,4))).
object(block,a(900,1)).
state(block,a(900,1),group,0).
change(xattr_owner,a(901,12),object,null,present).
object(xattr_owner,a(901,12)).
change(xattr_owner,a(901,13),object,null,present).
object(xattr_owner,a(901,13)).
object(block,a(901,1)).
state(block,a(901,1),group,0).
expect_none.
