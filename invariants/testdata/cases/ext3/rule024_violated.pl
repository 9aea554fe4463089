% Pointers in wrong places, to wrong blocks, to groups without copies, and to a copy in the place of
% another.
rule(24).
object(superblock,0).
state(superblock,0,first_ino,11).
state(superblock,0,log_block_size,0).
state(superblock,0,feature_compat,60).
state(superblock,0,feature_incompat,2).
state(superblock,0,feature_ro_compat,1).
state(superblock,0,rev_level,1).
state(superblock,0,reserved_gdt_blocks,2).
state(superblock,0,journal_inum,8).
state(superblock,0,inodes_count,2000).
state(superblock,0,inode_size,128).
state(superblock,0,first_data_block,1).
state(superblock,0,blocks_per_group,256).
state(superblock,0,blocks_count,12801).
state(superblock,0,r_blocks_count,1000).
change(owner,k(900,owner,a(7,2199023255821)),object,null,present).
change(owner,k(900,owner,a(7,2199023255821)),length,null,1).
change(owner,k(900,owner,a(7,2199023255819)),object,null,present).
change(owner,k(900,owner,a(7,2199023255819)),length,null,1).
change(owner,k(5000,owner,a(7,0)),object,null,present).
change(owner,k(5000,owner,a(7,0)),length,null,1).
change(owner,k(5000,owner,a(7,11)),object,null,present).
change(owner,k(5000,owner,a(7,11)),length,null,1).
change(owner,k(5000,owner,a(7,267)),object,null,present).
change(owner,k(5000,owner,a(7,267)),length,null,1).
change(owner,k(901,owner,a(7,3298534883328)),object,null,present).
change(owner,k(901,owner,a(7,3298534883328)),length,null,1).
change(owner,k(4,owner,a(7,1099511628557)),object,null,present).
change(owner,k(4,owner,a(7,1099511628557)),length,null,1).
change(owner,k(5,owner,a(7,1099511628556)),object,null,present).
change(owner,k(5,owner,a(7,1099511628556)),length,null,1).
change(owner,k(4,owner,a(7,1099511628044)),object,null,present).
change(owner,k(4,owner,a(7,1099511628044)),length,null,1).
change(owner,k(7,owner,a(7,1099511629068)),object,null,present).
change(owner,k(7,owner,a(7,1099511629068)),length,null,1).
change(owner,k(4,owner,a(7,1099511627776)),object,null,present).
change(owner,k(4,owner,a(7,1099511627776)),length,null,1).
change(owner,k(261,owner,a(7,780)),object,null,present).
change(owner,k(261,owner,a(7,780)),length,null,1).
change(owner,k(260,owner,a(7,781)),object,null,present).
change(owner,k(260,owner,a(7,781)),length,null,1).
change(owner,k(516,owner,a(7,781)),object,null,present).
change(owner,k(516,owner,a(7,781)),length,null,1).
change(owner,k(516,owner,a(7,780)),object,null,present).
change(owner,k(516,owner,a(7,780)),length,null,1).
change(owner,k(4,owner,a(7,780)),object,null,present).
change(owner,k(4,owner,a(7,780)),length,null,1).
change(owner,k(-252,owner,a(7,780)),object,null,present).
change(owner,k(-252,owner,a(7,780)),length,null,1).
change(owner,k(262,owner,a(7,1292)),object,null,present).
change(owner,k(262,owner,a(7,1292)),length,null,1).
change(owner,k(1028,owner,a(7,782)),object,null,present).
change(owner,k(1028,owner,a(7,782)),length,null,1).
change(owner,k(1540,owner,a(7,783)),object,null,present).
change(owner,k(1540,owner,a(7,783)),length,null,1).
change(owner,k(2052,owner,a(7,784)),object,null,present).
change(owner,k(2052,owner,a(7,784)),length,null,1).
change(owner,k(2564,owner,a(7,785)),object,null,present).
change(owner,k(2564,owner,a(7,785)),length,null,1).
change(owner,k(5380,owner,a(7,785)),object,null,present).
change(owner,k(5380,owner,a(7,785)),length,null,1).
change(owner,k(8964,owner,a(7,787)),object,null,present).
change(owner,k(8964,owner,a(7,787)),length,null,1).
change(owner,k(11524,owner,a(7,787)),object,null,present).
change(owner,k(11524,owner,a(7,787)),length,null,1).
change(owner,k(2308,owner,a(7,783)),object,null,present).
change(owner,k(2308,owner,a(7,783)),length,null,1).
change(owner,k(6404,owner,a(7,784)),object,null,present).
change(owner,k(6404,owner,a(7,784)),length,null,1).
change(owner,k(6916,owner,a(7,785)),object,null,present).
change(owner,k(6916,owner,a(7,785)),length,null,1).
change(owner,k(12548,owner,a(7,786)),object,null,present).
change(owner,k(12548,owner,a(7,786)),length,null,1).
change(owner,k(772,owner,a(7,782)),object,null,present).
change(owner,k(772,owner,a(7,782)),length,null,1).
change(owner,k(1284,owner,a(7,781)),object,null,present).
change(owner,k(1284,owner,a(7,781)),length,null,1).
change(owner,k(1796,owner,a(7,782)),object,null,present).
change(owner,k(1796,owner,a(7,782)),length,null,1).
expect(24, owner, k(900,owner,a(7,2199023255821))).
expect(24, owner, k(900,owner,a(7,2199023255819))).
expect(24, owner, k(5000,owner,a(7,0))).
expect(24, owner, k(5000,owner,a(7,11))).
expect(24, owner, k(5000,owner,a(7,267))).
expect(24, owner, k(901,owner,a(7,3298534883328))).
expect(24, owner, k(4,owner,a(7,1099511628557))).
expect(24, owner, k(5,owner,a(7,1099511628556))).
expect(24, owner, k(4,owner,a(7,1099511628044))).
expect(24, owner, k(7,owner,a(7,1099511629068))).
expect(24, owner, k(4,owner,a(7,1099511627776))).
expect(24, owner, k(261,owner,a(7,780))).
expect(24, owner, k(260,owner,a(7,781))).
expect(24, owner, k(516,owner,a(7,781))).
expect(24, owner, k(516,owner,a(7,780))).
expect(24, owner, k(4,owner,a(7,780))).
expect(24, owner, k(-252,owner,a(7,780))).
expect(24, owner, k(262,owner,a(7,1292))).
expect(24, owner, k(1028,owner,a(7,782))).
expect(24, owner, k(1540,owner,a(7,783))).
expect(24, owner, k(2052,owner,a(7,784))).
expect(24, owner, k(2564,owner,a(7,785))).
expect(24, owner, k(5380,owner,a(7,785))).
expect(24, owner, k(8964,owner,a(7,787))).
expect(24, owner, k(11524,owner,a(7,787))).
expect(24, owner, k(2308,owner,a(7,783))).
expect(24, owner, k(6404,owner,a(7,784))).
expect(24, owner, k(6916,owner,a(7,785))).
expect(24, owner, k(12548,owner,a(7,786))).
expect(24, owner, k(772,owner,a(7,782))).
expect(24, owner, k(1284,owner,a(7,781))).
expect(24, owner, k(1796,owner,a(7,782))).
