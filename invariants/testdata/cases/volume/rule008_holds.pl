% The extents of a PV end where its partition does.
change(pv,a(0,'Jx0tN2'),object,present,present).
change(pv,a(0,'Jx0tN2'),data_end,536870912,537919488).
object(pv,a(0,'Jx0tN2')).
state(pv,a(0,'Jx0tN2'),end,537919488).
state(pv,a(0,'Jx0tN2'),data_end,537919488).
expect_none.
