% The default is a subvolume that does not exist.
rule(59).
change(1,k(6,dir_item,2378154706),object,present,present).
change(1,k(6,dir_item,2378154706),location,k(5,root_item,-1),k(256,root_item,-1)).
object(1,k(6,dir_item,2378154706)).
expect(59, 1, k(6,dir_item,2378154706)).
