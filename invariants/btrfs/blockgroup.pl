% Block groups: how much of each chunk is in use.

% Rule 48. The used of a block group is the number of bytes of its extents: it changes by the
% extents added less those removed.
% Source: btrfs check, "block group ... used ... but extent items used ...". Checked
% incrementally.
% For the user: the file system runs out of space that it has, or removes a chunk that is in use.
violation(48, TREE, k(CHUNK, block_group_item, LENGTH)) :-
  change(TREE, k(CHUNK, block_group_item, LENGTH), used, _, _),
  verify(group_use_agrees(CHUNK)).

% Where used did not change, the extents that were added have as many bytes as those removed.
violation(48, 3, k(256, chunk_item, CHUNK)) :-
  extent_kind(KIND),
  ( new(2, k(_, KIND, _), chunk, CHUNK) ; old(2, k(_, KIND, _), chunk, CHUNK) ),
  not(group_use_changes(CHUNK)),
  verify(group_use_agrees(CHUNK)).

group_use_changes(CHUNK) :-
  group_tree(TREE),
  change(TREE, k(CHUNK, block_group_item, _), used, _, _).

group_use_agrees(CHUNK) :-
  sum(USED, default_zero(_, k(CHUNK, block_group_item, _), used, _, USED), USED_NEW),
  sum(USED, default_zero(_, k(CHUNK, block_group_item, _), used, USED, _), USED_OLD),
  sum(LENGTH, change(2, k(_, extent_item, LENGTH), chunk, _, CHUNK), EXTENTS_NEW),
  sum(LENGTH, change(2, k(_, extent_item, LENGTH), chunk, CHUNK, _), EXTENTS_OLD),
  count(change(2, k(_, metadata_item, _), chunk, _, CHUNK), BLOCKS_NEW),
  count(change(2, k(_, metadata_item, _), chunk, CHUNK, _), BLOCKS_OLD),
  query(0, k(0, super_block, 0), nodesize, NODESIZE),
  USED_NEW + EXTENTS_OLD + BLOCKS_OLD * NODESIZE =:= USED_OLD + EXTENTS_NEW + BLOCKS_NEW * NODESIZE.

% Rule 49. An extent lies within one block group, and the type of the block group fits it: data or
% metadata.
% Source: btrfs check, "bad extent [...), type mismatch with chunk".
% For the user: data overwrites metadata, or lies on a device with fewer copies than were asked
% for.
violation(49, 2, k(EXTENT, KIND, X)) :-
  extent_kind(KIND),
  new(2, k(EXTENT, KIND, X), flags, TYPE),
  not(in_chunk_for(TYPE, k(EXTENT, KIND, X))).

in_chunk_for(TYPE, k(EXTENT, KIND, X)) :-
  query(2, k(EXTENT, KIND, X), chunk, CHUNK),
  query(3, k(256, chunk_item, CHUNK), type, FLAGS),
  chunk_for(TYPE, BITS),
  FLAGS /\ BITS =\= 0,
  query(3, k(256, chunk_item, CHUNK), length, LENGTH),
  extent_length(KIND, X, SIZE),
  EXTENT + SIZE =< CHUNK + LENGTH.

% Bits of a chunk's type, BTRFS_BLOCK_GROUP_*: 1 data, 2 system, 4 metadata. A mixed chunk has two
% of them.
chunk_for(data, 1).
chunk_for(tree_block, 6).
