% The metadata of LVM give an extent to two logical volumes.
change(area,a(0,1048576),object,null,present).
change(area,a(0,1048576),end,null,9437184).
change(area,a(0,1048576),next_start,null,5242880).
object(area,a(0,1048576)).
state(area,a(0,1048576),data_end,536870912).
state(area,a(0,1048576),end,9437184).
state(area,a(0,1048576),next_start,5242880).
expect(6,area,a(0,1048576)).
