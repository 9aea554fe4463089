% A partition without a mounted file system is removed. A volume is cut to the size of its mounted
% file system, which was made smaller before. A volume that is new has no place that it had before.
% A file system was unmounted since the table last changed.
change(volume,a(0,p2),object,present,null).
change(volume,a(0,p2),in_use,0,null).
change(volume,a(0,'vg/root'),object,present,present).
change(volume,a(0,'vg/root'),kept,536870912,268435456).
object(volume,a(0,'vg/root')).
state(volume,a(0,'vg/root'),in_use,1).
state(volume,a(0,'vg/root'),fs_size,268435456).
change(volume,a(0,p3),object,null,present).
change(volume,a(0,p3),kept,null,0).
change(volume,a(0,p3),in_use,null,1).
change(volume,a(0,p3),fs_size,null,16777216).
state(volume,a(0,'vg/root'),kept,268435456).
object(volume,a(0,p3)).
state(volume,a(0,p3),kept,0).
state(volume,a(0,p3),in_use,1).
state(volume,a(0,p3),fs_size,16777216).
change(volume,a(0,p4),object,present,present).
change(volume,a(0,p4),in_use,1,0).
object(volume,a(0,p4)).
state(volume,a(0,p4),in_use,0).
expect_none.
