% A reference with count 1 is removed, and one with count 2 is added.
rule(9).
change(2,k(65536,extent_item,4096),refs,2,3).
change(2,k(65536,extent_data_ref,99),object,present,null).
change(2,k(65536,extent_data_ref,99),count,1,null).
change(2,k(65536,shared_data_ref,32768),object,null,present).
change(2,k(65536,shared_data_ref,32768),count,null,2).
expect_none.
