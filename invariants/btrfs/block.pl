% Metadata blocks and their back references.

% Rule 1. An added tree_block_ref names a tree that exists and leads to the block.
% Source: thesis, table 5.1; btrfs check, "tree extent ... parent/root ... has no backref item" in
% reverse (check_tree_block_backref). The rule says nothing about a tree that is being dropped.
% For the user: the space of the block is never freed, or a snapshot shows an old state.
violation(1, 2, k(BLOCK, tree_block_ref, TREE)) :-
  add(2, k(BLOCK, tree_block_ref, TREE)),
  not(dropped(TREE)),
  not(query(-1, k(BLOCK, tree_block, TREE))).

% A tree that neither exists nor existed before the commit has no blocks. Tree -8 is exempt:
% balance makes one relocation tree with this id for each tree.
violation(1, 2, k(BLOCK, tree_block_ref, TREE)) :-
  add(2, k(BLOCK, tree_block_ref, TREE)),
  TREE =\= 1,
  TREE =\= 3,
  TREE =\= 18446744073709551608,
  not(query(1, k(TREE, root_item, _))),
  not(delete(1, k(TREE, root_item, _))).

% Rule 8. A shared reference names a block that holds the pointers: a shared_block_ref names a
% node that points to the block; a shared_data_ref names a leaf with count file extents that use
% the extent.
% Source: thesis, table 5.2; btrfs check, check_shared_block_backref() and
% check_shared_data_backref(). The root of a relocation tree, which balance makes, names itself. A
% relocation tree that was merged (refs 0, merge_reloc_root) releases its references block by
% block, and after a crash over several commits.
% For the user: with one reference too many, space is never freed; with one too few, space is
% freed while a snapshot still uses it.
violation(8, 2, k(BLOCK, shared_block_ref, PARENT)) :-
  add(2, k(BLOCK, shared_block_ref, PARENT)),
  PARENT =\= BLOCK,
  not(query(-1, k(PARENT, block_pointers, BLOCK))).

violation(8, 2, k(EXTENT, shared_data_ref, LEAF)) :-
  new(2, k(EXTENT, shared_data_ref, LEAF), count, COUNT),
  not(query(-1, k(LEAF, block_pointers, EXTENT), count, COUNT)).

violation(8, 2, k(EXTENT, shared_data_ref, LEAF)) :-
  delete(2, k(EXTENT, shared_data_ref, LEAF)),
  whole_block(LEAF, 0),
  not(query(1, k(-8, root_item, _), refs, 0)),
  query(-1, k(LEAF, block_pointers, EXTENT)).

% Rule 74. A block that a tree leads to keeps its back reference: a shared_block_ref of its parent
% block if the parent has FULL_BACKREF, else a tree_block_ref of the tree that owns the parent. A
% snapshot takes a tree_block_ref to each block below its root, which it shares with its source.
% Source: btrfs check, "tree extent ... has no backref item in extent tree"; btrfs_copy_root.
% For the user: the block counts as free, and its contents are lost when the space is given to
% something else.
violation(74, 2, k(BLOCK, tree_block_ref, TREE)) :-
  delete(2, k(BLOCK, tree_block_ref, TREE)),
  query(-1, k(BLOCK, tree_block, TREE)),
  not(block_has_backref(BLOCK, TREE)).

violation(74, 2, k(BLOCK, tree_block_ref, TREE)) :-
  add(1, k(TREE, root_item, OFFSET)),
  file_tree(TREE),
  new(1, k(TREE, root_item, OFFSET), level, LEVEL),
  LEVEL > 0,
  live_tree(TREE),
  new(1, k(TREE, root_item, OFFSET), bytenr, ROOT),
  query(-1, k(ROOT, block_pointers, BLOCK)),
  not(query(2, k(BLOCK, tree_block_ref, TREE))).

block_has_backref(BLOCK, TREE) :-
  query(-1, k(BLOCK, tree_block, TREE), parent, PARENT),
  query(-1, k(BLOCK, tree_block, TREE), owner, OWNER),
  ( whole_block(PARENT, _) ->
      query(2, k(BLOCK, shared_block_ref, PARENT))
  ; query(2, k(BLOCK, tree_block_ref, OWNER)) ).

% Rule 75. The key offset of a metadata_item is the level of its block.
% Source: btrfs check, check_tree_block_ref; check_tree_block of the kernel.
% For the user: the space of the block is never freed, or the block is lost when its back
% references change.
violation(75, 2, k(BLOCK, metadata_item, LEVEL)) :-
  add(2, k(BLOCK, metadata_item, LEVEL)),
  query(-1, k(BLOCK, block, 0), level, FOUND),
  FOUND =\= LEVEL.

% Rule 101. Only a block that trees can share has FULL_BACKREF, and each of its targets then has a
% shared reference of the block; a block without FULL_BACKREF gives no shared reference, and its
% owner tree leads to it.
% Source: btrfs_block_can_be_shared, update_ref_for_cow and btrfs_alloc_tree_block: FULL_BACKREF
% is for blocks that balance makes, and for blocks of a tree whose generation is at most that of
% the tree's last snapshot. btrfs check, "bad full backref", "owner ref check failed" and "ref
% mismatch".
% For the user: the targets of the block are freed while they are in use, or never.
violation(101, 2, k(BLOCK, KIND, X)) :-
  block_kind(KIND),
  new(2, k(BLOCK, KIND, X), f(flags, full_backref), 1),
  query(-1, k(BLOCK, block, 0), f(flags, reloc), 0),
  query(-1, k(BLOCK, block, 0), owner, OWNER),
  query(-1, k(BLOCK, block, 0), generation, GENERATION),
  last_shared(OWNER, LAST),
  GENERATION > LAST.

violation(101, 2, k(BLOCK, KIND, X)) :-
  block_kind(KIND),
  new(2, k(BLOCK, KIND, X), f(flags, full_backref), 0),
  query(-1, k(BLOCK, block, 0), f(flags, reloc), 1).

violation(101, 2, k(BLOCK, KIND, X)) :-
  block_kind(KIND),
  new(2, k(BLOCK, KIND, X), f(flags, full_backref), 1),
  is_whole(BLOCK),
  query(-1, k(BLOCK, block_pointers, TARGET)),
  not(has_shared(TARGET, BLOCK)).

violation(101, 2, k(BLOCK, KIND, X)) :-
  block_kind(KIND),
  change(2, k(BLOCK, KIND, X), f(flags, full_backref), 1, 0),
  ( query(-1, k(BLOCK, block_pointers, TARGET)), has_shared(TARGET, BLOCK)
  ; query(-1, k(BLOCK, block, 0), owner, OWNER), not(query(-1, k(BLOCK, tree_block, OWNER))) ).

violation(101, 2, k(BLOCK, tree_block_ref, OWNER)) :-
  delete(2, k(BLOCK, tree_block_ref, OWNER)),
  not(query(1, k(-8, root_item, _), refs, 0)),
  block_kind(KIND),
  query(2, k(BLOCK, KIND, _), f(flags, full_backref), 0),
  query(-1, k(BLOCK, block, 0), owner, OWNER),
  not(query(-1, k(BLOCK, tree_block, OWNER))).

violation(101, 2, k(TARGET, SHARED, BLOCK)) :-
  shared_kind(SHARED),
  add(2, k(TARGET, SHARED, BLOCK)),
  not(whole_block(BLOCK, _)).

% A block that refers to all its targets. A leaf is dropped at once, with all its references. A node
% whose owner tree does not lead to it can belong to snapshots in the middle of being dropped.
is_whole(BLOCK) :- query(-1, k(BLOCK, block, 0), level, 0).
is_whole(BLOCK) :-
  query(-1, k(BLOCK, block, 0), owner, OWNER),
  query(-1, k(BLOCK, tree_block, OWNER)).

has_shared(TARGET, BLOCK) :- shared_kind(SHARED), query(2, k(TARGET, SHARED, BLOCK)).

shared_kind(shared_block_ref).
shared_kind(shared_data_ref).

% Rule 105. A block with a tree_block_ref also has a tree_block_ref of the owner in its header,
% unless it has FULL_BACKREF, balance made it, or the owner tree leads to it.
% Source: btrfs check, check_owner_ref ("owner ref check failed"). btrfs_alloc_tree_block gives a
% new block a reference of the tree that btrfs_init_new_buffer writes into its header.
% update_ref_for_cow sets FULL_BACKREF before that tree gives its reference back.
% For the user: the extents of a leaf count for another subvolume, and are freed while they are in
% use, or never.
violation(105, 2, k(BLOCK, tree_block_ref, TREE)) :-
  add(2, k(BLOCK, tree_block_ref, TREE)),
  query(-1, k(BLOCK, block, 0), owner, OWNER),
  not(query(2, k(BLOCK, tree_block_ref, OWNER))),
  query(-1, k(BLOCK, block, 0), f(flags, reloc), 0),
  not(whole_block(BLOCK, _)),
  not(query(-1, k(BLOCK, tree_block, OWNER))).

% Rule 106. The generation of a metadata block's extent equals the generation in the block's
% header.
% Source: alloc_reserved_tree_block and btrfs_init_new_buffer write the generation of the
% transaction into both. btrfs check compares the generation of a tree's root with its root_item,
% "root item for root ..., current gen ..., new gen ...".
% For the user: btrfs check starts a subvolume from a block that is not its newest, or refuses to
% repair it.
violation(106, 2, k(BLOCK, metadata_item, LEVEL)) :-
  new(2, k(BLOCK, metadata_item, LEVEL), generation, GENERATION),
  query(-1, k(BLOCK, block, 0), generation, FOUND),
  GENERATION =\= FOUND.

violation(106, 2, k(BLOCK, extent_item, LENGTH)) :-
  new(2, k(BLOCK, extent_item, LENGTH), generation, GENERATION),
  query(2, k(BLOCK, extent_item, LENGTH), level, _), % a block, not data
  query(-1, k(BLOCK, block, 0), generation, FOUND),
  GENERATION =\= FOUND.

% The highest generation of a block that the tree can share. The root tree and the chunk tree have
% no root_item and no snapshots.
last_shared(OWNER, LAST) :- query(1, k(OWNER, root_item, _), last_snapshot, LAST).
last_shared(1, 0).
last_shared(3, 0).
