% The leaf has one file extent in the extent.
rule(8).
change(2,k(65536,shared_data_ref,32768),count,null,2).
object(2,k(65536,shared_data_ref,32768)).
object(-1,k(32768,block_pointers,65536)).
state(-1,k(32768,block_pointers,65536),count,1).
expect(8, 2, k(65536,shared_data_ref,32768)).
