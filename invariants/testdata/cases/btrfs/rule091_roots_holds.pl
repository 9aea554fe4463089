% The log root tree has the roots of logs.
rule(91).
change(-6,k(-6,root_item,256),object,null,present).
object(-6,k(-6,root_item,256)).
expect_none.
