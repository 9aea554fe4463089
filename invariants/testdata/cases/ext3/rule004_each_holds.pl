% An extended attribute block is freed with its inode. A block moves to another file and stays
% marked.
rule(4).
change(block,a(900,1),object,present,null).
change(block,a(900,1),group,0,null).
change(xattr_owner,a(900,12),object,present,null).
change(owner,k(901,owner,a(12,0)),object,present,null).
change(owner,k(901,owner,a(12,0)),length,1,null).
change(owner,k(901,owner,a(13,0)),object,null,present).
change(owner,k(901,owner,a(13,0)),length,null,1).
object(owner,k(901,owner,a(13,0))).
object(block,a(901,1)).
state(block,a(901,1),group,0).
expect_none.
