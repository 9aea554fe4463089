% Each of the transaction numbers of a subvolume is one above the superblock's generation.
rule(58).
object(0,k(0,super_block,0)).
state(0,k(0,super_block,0),generation,7).
change(1,k(300,root_item,0),object,present,present).
change(1,k(300,root_item,0),ctransid,6,8).
object(1,k(300,root_item,0)).
state(1,k(300,root_item,0),ctransid,8).
change(1,k(301,root_item,0),object,present,present).
change(1,k(301,root_item,0),otransid,6,8).
object(1,k(301,root_item,0)).
state(1,k(301,root_item,0),otransid,8).
change(1,k(302,root_item,0),object,present,present).
change(1,k(302,root_item,0),rtransid,6,8).
object(1,k(302,root_item,0)).
state(1,k(302,root_item,0),rtransid,8).
change(1,k(303,root_item,0),object,present,present).
change(1,k(303,root_item,0),last_snapshot,6,8).
object(1,k(303,root_item,0)).
state(1,k(303,root_item,0),last_snapshot,8).
expect(58, 1, k(300,root_item,0)).
expect(58, 1, k(301,root_item,0)).
expect(58, 1, k(302,root_item,0)).
expect(58, 1, k(303,root_item,0)).
