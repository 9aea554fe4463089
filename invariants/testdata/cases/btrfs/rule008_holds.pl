% The leaf has two file extents in the extent.
rule(8).
change(2,k(65536,shared_data_ref,32768),count,null,2).
object(2,k(65536,shared_data_ref,32768)).
object(-1,k(32768,block_pointers,65536)).
state(-1,k(32768,block_pointers,65536),count,2).
expect_none.
