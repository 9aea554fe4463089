% A file releases a block, and the block stays marked as used.
rule(2).
change(owner,k(900,owner,a(12,0)),object,present,null).
change(owner,k(900,owner,a(12,0)),length,1,null).
object(block,a(900,1)).
expect(2, owner, k(900,owner,a(12,0))).
