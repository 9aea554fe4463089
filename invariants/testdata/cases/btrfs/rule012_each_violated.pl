% An extent is added to an inode that does not exist: with the lowest and the highest possible
% number.
rule(12).
change(5,k(256,extent_data,0),object,null,present).
object(5,k(256,extent_data,0)).
change(5,k(18446744073709551359,extent_data,0),object,null,present).
object(5,k(18446744073709551359,extent_data,0)).
expect(12, 5, k(256,extent_data,0)).
expect(12, 5, k(18446744073709551359,extent_data,0)).
