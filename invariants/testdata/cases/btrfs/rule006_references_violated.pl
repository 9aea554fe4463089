% The extent before an added extent reaches into it, and its back reference stands between the two.
% Another extent reaches into the next one, beyond its own back reference.
rule(6).
object(2,k(131072,extent_item,16384)).
object(2,k(131072,shared_data_ref,99)).
change(2,k(139264,extent_item,4096),object,null,present).
change(2,k(139264,extent_item,4096),refs,null,1).
object(2,k(139264,extent_item,4096)).
state(2,k(139264,extent_item,4096),refs,1).
change(2,k(262144,extent_item,16384),object,null,present).
change(2,k(262144,extent_item,16384),refs,null,1).
object(2,k(262144,extent_item,16384)).
state(2,k(262144,extent_item,16384),refs,1).
object(2,k(262144,shared_data_ref,99)).
object(2,k(270336,extent_item,4096)).
expect(6, 2, k(139264,extent_item,4096)).
expect(6, 2, k(262144,extent_item,16384)).
