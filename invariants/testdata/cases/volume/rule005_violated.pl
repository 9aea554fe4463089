% A partition is moved: nothing of its file system, which is not mounted, stays in its place.
change(volume,a(0,p2),object,present,present).
change(volume,a(0,p2),kept,33554432,0).
object(volume,a(0,p2)).
state(volume,a(0,p2),in_use,0).
state(volume,a(0,p2),fs_size,33554432).
state(volume,a(0,p2),kept,0).
expect(5,volume,a(0,p2)).
