% Both copies of a GPT have landed, and differ. On the second disk the backup is altered after it
% has landed.
change(table,0,object,present,present).
change(table,0,landed,0,1).
object(table,0).
state(table,0,kind,gpt).
state(table,0,copies,differ).
change(table,1,object,present,present).
change(table,1,copies,agree,differ).
object(table,1).
state(table,1,kind,gpt).
state(table,1,landed,1).
state(table,0,landed,1).
state(table,1,copies,differ).
expect(3,table,0).
expect(3,table,1).
