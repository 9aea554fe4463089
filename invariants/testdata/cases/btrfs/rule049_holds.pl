% Data in a mixed chunk.
rule(49).
change(2,k(65536,extent_item,4096),flags,null,data).
object(2,k(65536,extent_item,4096)).
state(2,k(65536,extent_item,4096),chunk,65536).
object(3,k(256,chunk_item,65536)).
state(3,k(256,chunk_item,65536),length,8192).
state(3,k(256,chunk_item,65536),type,5).
expect_none.
