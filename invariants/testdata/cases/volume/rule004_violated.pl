% A mounted file system's partition is removed, and a mounted logical volume cut below its size.
change(volume,a(0,p2),object,present,null).
change(volume,a(0,p2),in_use,1,null).
change(volume,a(0,'vg/root'),object,present,present).
change(volume,a(0,'vg/root'),kept,536870912,268435456).
object(volume,a(0,'vg/root')).
state(volume,a(0,'vg/root'),in_use,1).
state(volume,a(0,'vg/root'),fs_size,536870912).
state(volume,a(0,'vg/root'),kept,268435456).
expect(4,volume,a(0,p2)).
expect(4,volume,a(0,'vg/root')).
