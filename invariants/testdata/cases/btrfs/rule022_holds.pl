% The inode has checksums.
rule(22).
change(7,k(-10,extent_csum,65536),nsums,1,2).
change(2,k(69632,extent_item,4096),object,null,present).
change(2,k(69632,extent_data_ref,99),root,null,5).
object(2,k(69632,extent_item,4096)).
object(2,k(69632,extent_data_ref,99)).
state(2,k(69632,extent_data_ref,99),objectid,257).
object(5,k(257,inode_item,0)).
state(5,k(257,inode_item,0),f(flags,nodatasum),0).

object(0,k(0,super_block,0)).
state(0,k(0,super_block,0),sectorsize,4096).
state(0,k(0,super_block,0),log_root,0).
expect_none.
