% The resize inode keeps blocks free behind the group descriptors, and behind each copy of them,
% for the descriptors of later groups. Its one double indirect block names the blocks behind the
% descriptors, in the order of the descriptor table. Each of these blocks names the blocks at the
% same place in the groups that have a copy.

% Rule 24. Each block that the resize inode points to is reserved for group descriptors and has
% its place among them.
% Source: e2fsck PR_0_RESIZE_INODE_INVALID; ext2fs_create_resize_inode; reserve_backup_gdb,
% verify_reserved_gdb.
% For the user: the file system cannot grow while it is mounted, or writes descriptors over files
% when it does.
% Cost: the powers of 3, 5 and 7 up to the number of groups, at most 20 each.
violation(24, owner, k(B,owner,a(7,P))) :-
  add(owner, k(B,owner,a(7,P))),
  \+ lacks(feature_compat, 16),
  \+ reserved(P, B).
violation(24, owner, k(B,owner,a(7,P))) :-
  new(owner, k(B,owner,a(7,P)), length, N),
  N > 1,
  \+ lacks(feature_compat, 16).

reserved(P, _) :-
  pointers(N),
  P =:= 0x20000000000 + 12 + N.
reserved(P, B) :-
  pointers(N),
  P >= 0x10000000000 + 12 + N,
  P < 0x20000000000,
  INDEX is (P - 0x10000000000 - 12 - N) // N,
  P =:= 0x10000000000 + 12 + N + (INDEX * N),
  reserved_for_descriptors(INDEX, N, B).
reserved(P, B) :-
  P < 0x10000000000,
  pointers(N),
  P >= 12 + N,
  INDEX is (P - 12 - N) // N,
  RANK is (P - 12 - N) mod N,
  reserved_for_descriptors(INDEX, N, PRIMARY),
  query(superblock, 0, blocks_per_group, LENGTH),
  (B - PRIMARY) mod LENGTH =:= 0,
  GROUP is (B - PRIMARY) // LENGTH,
  has_copy(GROUP),
  BEFORE is GROUP - 1,
  copies_up_to(BEFORE, RANK).

% The block that is reserved for the descriptors at a place of the table. There can be more such
% blocks than one block names; the places then start again at the beginning.
reserved_for_descriptors(INDEX, N, BLOCK) :-
  descriptor_blocks(USED),
  query(superblock, 0, reserved_gdt_blocks, RESERVED),
  OFFSET is (INDEX + N - (USED mod N)) mod N,
  OFFSET < RESERVED,
  query(superblock, 0, first_data_block, FIRST),
  BLOCK is FIRST + 1 + USED + OFFSET.

pointers(N) :-
  query(superblock, 0, log_block_size, LOG),
  N is 256 << LOG.

last_group(G) :-
  query(superblock, 0, blocks_count, BLOCKS),
  query(superblock, 0, first_data_block, FIRST),
  query(superblock, 0, blocks_per_group, LENGTH),
  G is (BLOCKS - FIRST - 1) // LENGTH.

descriptor_blocks(N) :-
  last_group(G),
  query(superblock, 0, log_block_size, LOG),
  N is G // (32 << LOG) + 1.

has_copy(GROUP) :- ( lacks(feature_ro_compat, 1) -> true ; sparse(GROUP) ).

sparse(1).
sparse(GROUP) :- power(3, 3, GROUP).
sparse(GROUP) :- power(5, 5, GROUP).
sparse(GROUP) :- power(7, 7, GROUP).

power(_, POWER, POWER).
power(BASE, POWER, N) :-
  POWER < N,
  NEXT is POWER * BASE,
  power(BASE, NEXT, N).

% How many groups up to GROUP have a copy of the descriptors, without group 0.
copies_up_to(GROUP, N) :-
  ( lacks(feature_ro_compat, 1) -> N = GROUP
  ; GROUP =:= 0 -> N = 0
  ; powers_up_to(3, 3, GROUP, A),
    powers_up_to(5, 5, GROUP, B),
    powers_up_to(7, 7, GROUP, C),
    N is A + B + C + 1 ).

powers_up_to(_, POWER, LIMIT, 0) :- POWER > LIMIT.
powers_up_to(BASE, POWER, LIMIT, N) :-
  POWER =< LIMIT,
  NEXT is POWER * BASE,
  powers_up_to(BASE, NEXT, LIMIT, M),
  N is M + 1.

% Rule 25. The resize inode is a regular file that has all blocks reserved for group descriptors,
% and no others.
% Source: e2fsck PR_0_RESIZE_INODE_INVALID; ext2fs_create_resize_inode; add_new_gdb,
% ext4_convert_meta_bg.
% For the user: the file system cannot grow while it is mounted.
% Cost: the powers of 3, 5 and 7 up to the number of groups, at most 20 each.
violation(25, inode, 7) :-
  resized,
  \+ lacks(feature_compat, 16),
  \+ whole_resize_inode.

resized :- new(inode, 7).
resized :- delete(inode, 7).
resized :- change(superblock, 0, reserved_gdt_blocks, _, _).
resized :- change(superblock, 0, feature_compat, _, _).
resized :- change(superblock, 0, blocks_count, _, _).

whole_resize_inode :-
  query(inode, 7, f(mode,s_ifmt), s_ifreg),
  query(inode, 7, links_count, LINKS),
  LINKS > 0,
  query(superblock, 0, reserved_gdt_blocks, RESERVED),
  last_group(G),
  copies_up_to(G, COPIES),
  query(superblock, 0, log_block_size, LOG),
  query(inode, 7, blocks, BLOCKS),
  BLOCKS =:= (1 + (RESERVED * (1 + COPIES))) * (2 << LOG).
