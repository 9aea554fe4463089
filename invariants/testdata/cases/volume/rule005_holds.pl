% A partition is cut to the size of its file system, and a volume without one is cut.
% A new partition has found a file system in its place.
change(volume,a(0,p2),object,present,present).
change(volume,a(0,p2),kept,67108864,33554432).
object(volume,a(0,p2)).
state(volume,a(0,p2),in_use,0).
state(volume,a(0,p2),fs_size,33554432).
change(volume,a(0,p3),object,present,present).
change(volume,a(0,p3),kept,67108864,1048576).
object(volume,a(0,p3)).
state(volume,a(0,p2),kept,33554432).
state(volume,a(0,p3),kept,1048576).
change(volume,a(0,p4),object,null,present).
change(volume,a(0,p4),kept,null,0).
change(volume,a(0,p4),in_use,null,0).
change(volume,a(0,p4),fs_size,null,16777216).
object(volume,a(0,p4)).
state(volume,a(0,p4),kept,0).
state(volume,a(0,p4),in_use,0).
state(volume,a(0,p4),fs_size,16777216).
expect_none.
