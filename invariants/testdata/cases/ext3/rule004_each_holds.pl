% An extended attribute block is freed with its inode. A block moves to another file and stays
% marked.
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
