% A partition grows by a sector into the next one.
change(partition,a(0,1),object,present,present).
change(partition,a(0,1),end,2097152,2097664).
object(partition,a(0,1)).
state(partition,a(0,1),start,1048576).
state(partition,a(0,1),first_usable,17408).
state(partition,a(0,1),end_usable,8371712).
state(partition,a(0,1),next_start,2097152).
state(partition,a(0,1),end,2097664).
expect(2,partition,a(0,1)).
