% Metadata blocks and their back references.

% Rule 1. A tree_block_ref that is added has a block that it stands for: the tree that it names leads to the block.
% Source: thesis, table 5.1; btrfs check, "tree extent ... parent/root ... has no backref item" the other way
% (check_tree_block_backref). Of a tree that is being dropped nothing can be said.
% For the user: the space of the block would never be freed, or a snapshot would show a state of long ago.
violation(1, 2, k(BLOCK, tree_block_ref, TREE)) :-
  add(2, k(BLOCK, tree_block_ref, TREE)),
  not(dropped(TREE)),
  not(query(-1, k(BLOCK, tree_block, TREE))).

% A tree that is not there and was not before has no blocks. That of balance is there once for each tree.
violation(1, 2, k(BLOCK, tree_block_ref, TREE)) :-
  add(2, k(BLOCK, tree_block_ref, TREE)),
  TREE =\= 1,
  TREE =\= 3,
  TREE =\= 18446744073709551608,
  not(query(1, k(TREE, root_item, _))),
  not(delete(1, k(TREE, root_item, _))).

% Rule 8. A shared reference names the block that holds the pointers it counts: a node that points to the block, or a leaf with as many file extents in the extent.
% Source: thesis, table 5.2; btrfs check, check_shared_block_backref() and check_shared_data_backref(). The root
% of a tree that balance makes for itself names itself. What such a tree has given up (refs 0, merge_reloc_root) is let go block by block, and after a crash over several commits.
% For the user: with a reference that stands for nothing space is never freed; with one too few it is freed
% while a snapshot still uses it.
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

% Rule 74. A block that a tree leads to keeps its back reference: of the tree whose block points to it, or of that block if it counts as a whole.
% Source: btrfs check, "tree extent ... has no backref item in extent tree".
% For the user: the block counts as free, and what it holds is lost when it is given to something else.
violation(74, 2, k(BLOCK, tree_block_ref, TREE)) :-
  delete(2, k(BLOCK, tree_block_ref, TREE)),
  query(-1, k(BLOCK, tree_block, TREE)),
  not(block_has_backref(BLOCK, TREE)).

block_has_backref(BLOCK, TREE) :-
  query(-1, k(BLOCK, tree_block, TREE), parent, PARENT),
  query(-1, k(BLOCK, tree_block, TREE), owner, OWNER),
  ( whole_block(PARENT, _) ->
      query(2, k(BLOCK, shared_block_ref, PARENT))
  ; query(2, k(BLOCK, tree_block_ref, OWNER)) ).

% Rule 75. A metadata_item has the level of its block as the offset of its key.
% Source: btrfs check, check_tree_block_ref; check_tree_block of the kernel.
% For the user: the space of the block would never be freed, or the block be lost when its back references are changed.
violation(75, 2, k(BLOCK, metadata_item, LEVEL)) :-
  add(2, k(BLOCK, metadata_item, LEVEL)),
  query(-1, k(BLOCK, block, 0), level, FOUND),
  FOUND =\= LEVEL.

% Rule 101. A block counts as a whole only where trees can share it, and then what it points to has a reference of the block; one that does not has given none, and its own tree leads to it.
% Source: btrfs_block_can_be_shared, update_ref_for_cow and btrfs_alloc_tree_block: FULL_BACKREF is for blocks that balance makes, and for
% those of a tree that are not younger than its last snapshot. btrfs check, "bad full
% backref", "owner ref check failed" and "ref mismatch".
% For the user: what the block leads to would be freed while it is in use, or never.
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

% Where the tree does not lead to the block any more, snapshots that have it can be in the middle of being dropped.
violation(101, 2, k(BLOCK, KIND, X)) :-
  block_kind(KIND),
  new(2, k(BLOCK, KIND, X), f(flags, full_backref), 1),
  query(-1, k(BLOCK, block, 0), owner, OWNER),
  query(-1, k(BLOCK, tree_block, OWNER)),
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

has_shared(TARGET, BLOCK) :- shared_kind(SHARED), query(2, k(TARGET, SHARED, BLOCK)).

shared_kind(shared_block_ref).
shared_kind(shared_data_ref).

% Rule 105. A block that a tree refers to is referred to by the tree that its header names too, unless it counts as a whole, balance made it, or that tree leads to it.
% Source: btrfs check, check_owner_ref ("owner ref check failed"); btrfs_alloc_tree_block gives a new block a reference of the tree that
% btrfs_init_new_buffer puts into its header, and update_ref_for_cow has it count as a whole before that tree gives its reference back.
% For the user: what a leaf points to would count for another subvolume, and be freed while it is in use, or never.
violation(105, 2, k(BLOCK, tree_block_ref, TREE)) :-
  add(2, k(BLOCK, tree_block_ref, TREE)),
  query(-1, k(BLOCK, block, 0), owner, OWNER),
  not(query(2, k(BLOCK, tree_block_ref, OWNER))),
  query(-1, k(BLOCK, block, 0), f(flags, reloc), 0),
  not(whole_block(BLOCK, _)),
  not(query(-1, k(BLOCK, tree_block, OWNER))).

% Rule 106. The extent of a block has the generation of the block.
% Source: alloc_reserved_tree_block and btrfs_init_new_buffer put that of the transaction into both. btrfs check compares that of a tree's root with its
% root_item, "root item for root ..., current gen ..., new gen ...".
% For the user: btrfs check would have a subvolume begin with a block that is not its newest, or refuse to repair it.
violation(106, 2, k(BLOCK, metadata_item, LEVEL)) :-
  new(2, k(BLOCK, metadata_item, LEVEL), generation, GENERATION),
  query(-1, k(BLOCK, block, 0), generation, FOUND),
  GENERATION =\= FOUND.

violation(106, 2, k(BLOCK, extent_item, LENGTH)) :-
  new(2, k(BLOCK, extent_item, LENGTH), generation, GENERATION),
  query(2, k(BLOCK, extent_item, LENGTH), level, _), % a block, and not data
  query(-1, k(BLOCK, block, 0), generation, FOUND),
  GENERATION =\= FOUND.

% The generation of the youngest block that a tree can share. The trees of roots and of chunks have no root_item, and no snapshots.
last_shared(OWNER, LAST) :- query(1, k(OWNER, root_item, _), last_snapshot, LAST).
last_shared(1, 0).
last_shared(3, 0).
