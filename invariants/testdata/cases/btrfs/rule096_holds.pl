% A range of entries in a dir_log_index ends where it begins.
rule(96).
change(-6,k(256,dir_log_index,9),object,null,present).
change(-6,k(256,dir_log_index,9),end,null,9).

object(-6,k(256,dir_log_index,9)).
state(-6,k(256,dir_log_index,9),end,9).
expect_none.
