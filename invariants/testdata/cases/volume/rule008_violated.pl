% The metadata of LVM claim a larger partition than there is.
change(pv,a(0,'Jx0tN2'),object,present,present).
change(pv,a(0,'Jx0tN2'),data_end,536870912,541065216).
object(pv,a(0,'Jx0tN2')).
state(pv,a(0,'Jx0tN2'),end,537919488).
state(pv,a(0,'Jx0tN2'),data_end,541065216).
expect(8,pv,a(0,'Jx0tN2')).
