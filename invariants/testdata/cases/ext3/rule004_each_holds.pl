% The block of extended attributes is freed with the inode that named it. A block that stays
% marked moves to another file.
rule(4).
change(block,900,object,present,null).
change(block,900,group,0,null).
change(xattr_owner,a(900,12),object,present,null).
change(owner,k(901,owner,a(12,0)),object,present,null).
change(owner,k(901,owner,a(13,0)),object,null,present).
object(owner,k(901,owner,a(13,0))).
object(block,901).
state(block,901,group,0).
expect_none.
