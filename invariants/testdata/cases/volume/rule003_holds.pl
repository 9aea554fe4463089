% The primary copy of a GPT is new, the backup has yet to land. On the second disk both have landed,
% and agree. On the third the backup is damaged: that is no second description.
change(table,0,object,present,present).
change(table,0,copies,agree,differ).
change(table,0,landed,1,0).
object(table,0).
change(table,1,object,present,present).
change(table,1,copies,differ,agree).
change(table,1,landed,0,1).
object(table,1).
change(table,2,object,present,present).
change(table,2,copies,differ,damaged).
object(table,2).
state(table,2,landed,1).
state(table,0,copies,differ).
state(table,0,landed,0).
state(table,1,copies,agree).
state(table,1,landed,1).
state(table,2,copies,damaged).
expect_none.
