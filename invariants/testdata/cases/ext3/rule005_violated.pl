% Two files get the same block.
rule(5).
change(owner,k(900,owner,a(12,0)),object,null,present).
change(owner,k(900,owner,a(12,0)),length,null,1).
change(owner,k(900,owner,a(13,0)),object,null,present).
change(owner,k(900,owner,a(13,0)),length,null,1).
object(owner,k(900,owner,a(12,0))).
object(owner,k(900,owner,a(13,0))).
expect(5, owner, k(900,owner,a(12,0))).
expect(5, owner, k(900,owner,a(13,0))).
