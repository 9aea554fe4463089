% An entry that stands for the parent of its directory.
rule(54).
change(5,k(256,dir_index,2),object,null,present).
change(5,k(256,dir_index,2),name,null,'..').
object(5,k(256,dir_index,2)).
expect(54, 5, k(256,dir_index,2)).
