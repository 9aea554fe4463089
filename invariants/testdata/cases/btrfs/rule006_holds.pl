% An extent is added that ends where the next one begins.
rule(6).
change(2,k(8192,extent_item,8192),object,null,present).
change(2,k(8192,extent_item,8192),refs,null,1).
object(2,k(8192,extent_item,8192)).
object(2,k(16384,extent_item,4096)).
expect_none.
