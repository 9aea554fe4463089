% An extent is added that reaches four KiB into the next one.
rule(6).
change(2,k(8192,extent_item,12288),object,null,present).
change(2,k(8192,extent_item,12288),refs,null,1).
object(2,k(8192,extent_item,12288)).
object(2,k(16384,extent_item,4096)).
expect(6, 2, k(8192,extent_item,12288)).
