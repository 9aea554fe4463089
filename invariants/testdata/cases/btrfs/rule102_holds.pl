% The log of a subvolume that exists.
rule(102).
change(-6,k(-6,root_item,256),object,null,present).
change(-6,k(-6,root_item,256),level,null,0).

object(-6,k(-6,root_item,256)).
state(-6,k(-6,root_item,256),level,0).
object(1,k(256,root_item,0)).
state(1,k(256,root_item,0),refs,1).
expect_none.
