% A block is marked as free because one file releases it, and another file begins to point to it.
rule(4).
change(block,a(900,1),object,present,null).
change(block,a(900,1),group,0,null).
change(owner,k(900,owner,a(12,0)),object,present,null).
change(owner,k(900,owner,a(12,0)),length,1,null).
change(owner,k(900,owner,a(13,0)),object,null,present).
change(owner,k(900,owner,a(13,0)),length,null,1).
object(owner,k(900,owner,a(13,0))).
expect(4, block, a(900,1)).
