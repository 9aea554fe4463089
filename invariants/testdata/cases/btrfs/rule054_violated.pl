% An entry with the name '..'.
rule(54).
change(5,k(256,dir_index,2),object,null,present).
change(5,k(256,dir_index,2),name,null,'..').
object(5,k(256,dir_index,2)).
expect(54, 5, k(256,dir_index,2)).
