% A block is marked as used, and nothing points to it.
rule(3).
change(block,a(900,1),object,null,present).
object(block,a(900,1)).
expect(3, block, a(900,1)).
