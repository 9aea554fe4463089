% A range of hashes that ends before it begins.
rule(96).
change(-6,k(256,dir_log_item,9),object,null,present).
change(-6,k(256,dir_log_item,9),end,null,8).
object(-6,k(256,dir_log_item,9)).
state(-6,k(256,dir_log_item,9),end,8).
expect(96, -6, k(256,dir_log_item,9)).
