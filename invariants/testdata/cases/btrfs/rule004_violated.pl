% The references of a subvolume name an index under which there is no entry.
rule(4).
change(1,k(5,root_ref,256),object,null,present).
change(1,k(256,root_backref,5),object,null,present).
object(1,k(256,root_item,0)).
state(1,k(256,root_item,0),refs,1).
object(1,k(5,root_ref,256)).
state(1,k(5,root_ref,256),link,k(256,root_item,97)).
state(1,k(5,root_ref,256),name,'a').
state(1,k(5,root_ref,256),dirid,256).
state(1,k(5,root_ref,256),sequence,2).
object(1,k(256,root_backref,5)).
state(1,k(256,root_backref,5),link,k(256,root_item,97)).
state(1,k(256,root_backref,5),dirid,256).
state(1,k(256,root_backref,5),sequence,2).
object(5,k(256,dir_item,3427024844)).
state(5,k(256,dir_item,3427024844),link,k(256,root_item,97)).
object(5,k(256,dir_index,3)).
state(5,k(256,dir_index,3),link,k(256,root_item,97)).

expect(4, 1, k(5,root_ref,256)).
expect(4, 1, k(256,root_backref,5)).
