% A block is marked as used, and nothing points to it.
rule(3).
change(block,900,object,null,present).
object(block,900).
expect(3, block, 900).
