% A log has data of an object that is not an inode.
rule(91).
change(-6,k(-1,extent_data,0),object,null,present).
change(-6,k(-1,extent_data,0),type,null,data).
object(-6,k(-1,extent_data,0)).
state(-6,k(-1,extent_data,0),type,data).
expect(91, -6, k(-1,extent_data,0)).
