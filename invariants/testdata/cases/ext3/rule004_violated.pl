% A block that no file releases is marked as free.
rule(4).
change(block,a(900,1),object,present,null).
object(owner,k(900,owner,a(12,0))).
expect(4, block, a(900,1)).
