% The tree of free space against block groups and extents.

% The superblock says that the tree is valid, and this is a commit and no whole image: mkfs.btrfs leaves behind the
% free space of the block groups that it began with and then removed.
free_space_followed :-
  query(0, k(0, super_block, 0), f(compat_ro_flags, free_space_tree_valid), 1),
  not(add(0, k(0, super_block, 0))).

% Rule 76. A block group has a free_space_info with its address and length, and there is none of anything else.
% Source: btrfs check, load_free_space_tree; add_block_group_free_space, remove_block_group_free_space.
% For the user: the free space of the block group could not be found, and the file system not be written to.
violation(76, 10, k(GROUP, free_space_info, LENGTH)) :-
  add(10, k(GROUP, free_space_info, LENGTH)),
  free_space_followed,
  not(is_block_group(GROUP, LENGTH)).

violation(76, 10, k(GROUP, free_space_info, LENGTH)) :-
  delete(10, k(GROUP, free_space_info, LENGTH)),
  free_space_followed,
  is_block_group(GROUP, LENGTH).

violation(76, TREE, k(GROUP, block_group_item, LENGTH)) :-
  add(TREE, k(GROUP, block_group_item, LENGTH)),
  free_space_followed,
  not(query(10, k(GROUP, free_space_info, LENGTH))).

is_block_group(GROUP, LENGTH) :-
  group_tree(TREE),
  query(TREE, k(GROUP, block_group_item, LENGTH)).

% Rule 77. Free space lies within a block group, in extents or in bitmaps as the flags of its free_space_info say.
% Source: btrfs check, load_free_space_extents and load_free_space_bitmaps.
% For the user: space that is in use would be given out again, and what it holds be overwritten.
violation(77, 10, k(START, KIND, LENGTH)) :-
  free_kind(KIND, FLAGS),
  add(10, k(START, KIND, LENGTH)),
  free_space_followed,
  not(in_group_with(START, KIND, LENGTH, FLAGS)).

violation(77, 10, k(START, KIND, LENGTH)) :-
  change(10, k(GROUP, free_space_info, SIZE), flags, OLD, NEW),
  OLD \== null,
  NEW \== null,
  free_space_followed,
  free_kind(KIND, OLD),
  END is GROUP + SIZE - 1,
  once(range(10, k(START, KIND, LENGTH), k(GROUP, KIND, 0), k(END, _, _))).

free_kind(free_space_extent, 0).
free_kind(free_space_bitmap, 1).

in_group_with(START, KIND, LENGTH, FLAGS) :-
  query(10, k(START, KIND, LENGTH), chunk, GROUP),
  query(10, k(GROUP, free_space_info, SIZE), flags, FLAGS),
  START + LENGTH =< GROUP + SIZE.

% Rule 79. A free_space_info counts the extents of free space: extent_count changes with the free_space_extents of its block group.
% Source: btrfs check, "free space info recorded ... extents, counted ...". Where there are bitmaps it counts runs of
% bits, which is not followed.
% For the user: the free space would have to be searched anew, or the file system not be written to.
violation(79, 10, k(GROUP, free_space_info, LENGTH)) :-
  change(10, k(GROUP, free_space_info, LENGTH), extent_count, _, _),
  verify(free_extents_agree(GROUP)),
  has_extents(GROUP, LENGTH).

violation(79, 10, k(GROUP, free_space_info, LENGTH)) :-
  ( new(10, k(_, free_space_extent, _), chunk, GROUP) ; old(10, k(_, free_space_extent, _), chunk, GROUP) ),
  verify(free_extents_agree(GROUP)),
  has_extents(GROUP, LENGTH).

free_extents_agree(GROUP) :-
  sum(N, default_zero(10, k(GROUP, free_space_info, _), extent_count, _, N), NEW),
  sum(N, default_zero(10, k(GROUP, free_space_info, _), extent_count, N, _), OLD),
  count(change(10, k(_, free_space_extent, _), chunk, _, GROUP), CAME),
  count(change(10, k(_, free_space_extent, _), chunk, GROUP, _), WENT),
  NEW + WENT =:= OLD + CAME.

% A block group has no bitmaps now, and had none before the commit.
has_extents(GROUP, LENGTH) :-
  query(10, k(GROUP, free_space_info, LENGTH), flags, 0),
  not(change(10, k(GROUP, free_space_info, LENGTH), flags, 1, 0)),
  not(delete(10, k(GROUP, free_space_info, _))),
  free_space_followed.

% Rule 80. Free space is not in use: a free_space_extent that is added has no extent in it.
% Source: btrfs check, "there is no free space entry for ..." and "wanted offset ..., found ...".
% For the user: the space would be given out again, and what it holds be overwritten.
violation(80, 10, k(START, free_space_extent, LENGTH)) :-
  add(10, k(START, free_space_extent, LENGTH)),
  free_space_followed,
  END is START + LENGTH,
  previous_extent(k(END, extent_item, 0), k(EXTENT, KIND, X)),
  extent_length(KIND, X, SIZE),
  EXTENT + SIZE > START.
