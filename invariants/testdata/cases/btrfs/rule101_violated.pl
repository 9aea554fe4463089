% A leaf of the csum tree has FULL_BACKREF: that tree has no snapshots.
rule(101).
change(2,k(65536,metadata_item,0),f(flags,full_backref),0,1).
object(2,k(65536,metadata_item,0)).
state(2,k(65536,metadata_item,0),f(flags,full_backref),1).
object(-1,k(65536,block,0)).
state(-1,k(65536,block,0),owner,7).
state(-1,k(65536,block,0),generation,1).
state(-1,k(65536,block,0),f(flags,reloc),0).
object(1,k(7,root_item,0)).
state(1,k(7,root_item,0),last_snapshot,0).
expect(101, 2, k(65536,metadata_item,0)).
