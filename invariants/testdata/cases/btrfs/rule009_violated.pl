% A reference with count 1 is removed, one with count 2 is added, and refs does not change.
rule(9).
change(2,k(65536,extent_item,4096),refs,2,2).
change(2,k(65536,extent_data_ref,99),object,present,null).
change(2,k(65536,extent_data_ref,99),count,1,null).
change(2,k(65536,shared_data_ref,32768),object,null,present).
change(2,k(65536,shared_data_ref,32768),count,null,2).
expect(9, 2, k(65536,extent_item,4096)).
expect(9, 2, k(65536,extent_data_ref,99)).
expect(9, 2, k(65536,shared_data_ref,32768)).
