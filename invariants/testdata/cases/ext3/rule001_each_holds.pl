% A block moves from one file to another. Two inodes share an extended attribute block, which the
% bitmap marks.
rule(1).
change(owner,k(900,owner,a(12,0)),object,present,null).
change(owner,k(900,owner,a(13,4)),object,null,present).
object(owner,k(900,owner,a(13,4))).
object(block,900).
state(block,900,group,0).
change(xattr_owner,a(901,12),object,null,present).
object(xattr_owner,a(901,12)).
change(xattr_owner,a(901,13),object,null,present).
object(xattr_owner,a(901,13)).
object(block,901).
state(block,901,group,0).
expect_none.
