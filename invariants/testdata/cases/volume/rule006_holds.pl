% An area ends where the next one begins, and none follows the last.
change(area,a(0,1048576),object,null,present).
change(area,a(0,1048576),end,null,5242880).
change(area,a(0,1048576),next_start,null,5242880).
state(area,a(0,1048576),data_end,536870912).
change(area,a(0,5242880),object,null,present).
change(area,a(0,5242880),end,null,9437184).
state(area,a(0,5242880),data_end,536870912).
object(area,a(0,1048576)).
state(area,a(0,1048576),end,5242880).
state(area,a(0,1048576),next_start,5242880).
object(area,a(0,5242880)).
state(area,a(0,5242880),end,9437184).
expect_none.
