% A file gets a block that the bitmap does not mark.
rule(1).
change(owner,k(900,owner,a(12,0)),object,null,present).
change(owner,k(900,owner,a(12,0)),length,null,1).
object(owner,k(900,owner,a(12,0))).
expect(1, owner, k(900,owner,a(12,0))).
