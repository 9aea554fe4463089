% An area of a logical volume takes all extents of its PV.
change(area,a(0,1048576),object,null,present).
change(area,a(0,1048576),end,null,536870912).
change(area,a(0,1048576),data_end,null,536870912).
object(area,a(0,1048576)).
state(area,a(0,1048576),end,536870912).
state(area,a(0,1048576),data_end,536870912).
expect_none.
