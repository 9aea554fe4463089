% Two extents of different lengths begin at the same place, and the shorter one is added.
rule(6).
change(2,k(8192,extent_item,4096),object,null,present).
object(2,k(8192,extent_item,4096)).
object(2,k(8192,extent_item,8192)).
expect(6, 2, k(8192,extent_item,4096)).
