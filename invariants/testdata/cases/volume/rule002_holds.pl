% A partition grows up to the next one, and the last partition of a disk has none behind it.
change(partition,a(0,1),object,present,present).
change(partition,a(0,1),end,2000000,2097152).
object(partition,a(0,1)).
state(partition,a(0,1),start,1048576).
state(partition,a(0,1),first_usable,17408).
state(partition,a(0,1),end_usable,8371712).
state(partition,a(0,1),next_start,2097152).
change(partition,a(0,2),object,present,present).
change(partition,a(0,2),end,4194304,8371712).
object(partition,a(0,2)).
state(partition,a(0,2),start,2097152).
state(partition,a(0,2),first_usable,17408).
state(partition,a(0,2),end_usable,8371712).
state(partition,a(0,1),end,2097152).
state(partition,a(0,2),end,8371712).
expect_none.
