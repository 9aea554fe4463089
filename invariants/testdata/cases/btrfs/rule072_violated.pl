% Two checksums are added, and only one extent.
rule(72).
change(7,k(-10,extent_csum,65536),nsums,1,3).
object(2,k(69632,extent_item,4096)).

object(0,k(0,super_block,0)).
state(0,k(0,super_block,0),sectorsize,4096).
state(0,k(0,super_block,0),log_root,0).
expect(72, 7, k(-10,extent_csum,65536)).
