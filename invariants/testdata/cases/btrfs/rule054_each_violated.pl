% An entry has the index 1, and another has the name '.'.
rule(54).
change(5,k(256,dir_index,1),object,null,present).
change(5,k(256,dir_index,1),name,null,'a').
object(5,k(256,dir_index,1)).
state(5,k(256,dir_index,1),name,'a').
change(5,k(256,dir_index,2),object,null,present).
change(5,k(256,dir_index,2),name,null,'.').
object(5,k(256,dir_index,2)).
state(5,k(256,dir_index,2),name,'.').
expect(54, 5, k(256,dir_index,1)).
expect(54, 5, k(256,dir_index,2)).
