% A new partition takes all that its table allows. One that is already there and reaches too far is
% not judged again.
rule(1).
change(partition,a(0,1),object,null,present).
change(partition,a(0,1),start,null,17408).
change(partition,a(0,1),end,null,8371712).
change(partition,a(0,1),first_usable,null,17408).
change(partition,a(0,1),end_usable,null,8371712).
object(partition,a(1,1)).
state(partition,a(1,1),start,512).
state(partition,a(1,1),end,9000000).
state(partition,a(1,1),first_usable,17408).
state(partition,a(1,1),end_usable,8371712).
object(partition,a(0,1)).
state(partition,a(0,1),start,17408).
state(partition,a(0,1),end,8371712).
state(partition,a(0,1),first_usable,17408).
state(partition,a(0,1),end_usable,8371712).
expect_none.
