% The free space tree must agree with block groups and extents.

% The superblock says that the tree is valid, and this is a commit and not a whole image:
% mkfs.btrfs leaves behind the free space of the block groups that it began with and then removed.
% The commit is Linux's own: btrfs check --repair changes extents without changing this tree, and
% rebuilds the tree at its end.
free_space_followed :-
  query(0, k(0, super_block, 0), f(compat_ro_flags, free_space_tree_valid), 1),
  not(add(0, k(0, super_block, 0))),
  by_linux.

% Rule 76. Each block group has a free_space_info with its address and length, and each
% free_space_info has such a block group.
% Source: btrfs check, load_free_space_tree; add_block_group_free_space,
% remove_block_group_free_space.
% For the user: the free space of the block group cannot be found, and the file system cannot be
% written to.
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

violation(76, 10, k(GROUP, free_space_info, LENGTH)) :-
  delete(_, k(GROUP, block_group_item, LENGTH)),
  free_space_followed,
  query(10, k(GROUP, free_space_info, LENGTH)).

is_block_group(GROUP, LENGTH) :-
  group_tree(TREE),
  query(TREE, k(GROUP, block_group_item, LENGTH)).

% Rule 77. Free space lies within a block group, in the form that the flags of its free_space_info
% name: free_space_extents or free_space_bitmaps.
% Source: btrfs check, load_free_space_extents and load_free_space_bitmaps.
% For the user: space that is in use is given out again, and its contents are overwritten.
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

violation(77, 10, k(START, KIND, LENGTH)) :-
  delete(10, k(GROUP, free_space_info, SIZE)),
  free_space_followed,
  free_kind(KIND, FLAGS),
  END is GROUP + SIZE - 1,
  range(10, k(START, KIND, LENGTH), k(GROUP, KIND, 0), k(END, KIND, _)),
  not(in_group_with(START, KIND, LENGTH, FLAGS)).

free_kind(free_space_extent, 0).
free_kind(free_space_bitmap, 1).

in_group_with(START, KIND, LENGTH, FLAGS) :-
  query(10, k(START, KIND, LENGTH), chunk, GROUP),
  query(10, k(GROUP, free_space_info, SIZE), flags, FLAGS),
  START + LENGTH =< GROUP + SIZE.

% Rule 107. The bitmaps of a block group that uses bitmaps follow each other from its beginning to
% its end without a gap: each covers 2048 sectors, the last one the rest.
% Source: convert_free_space_to_bitmaps makes all of them, and all of them go at once
% (convert_free_space_to_extents, remove_block_group_free_space); btrfs check,
% load_free_space_bitmaps, in which a run of free sectors continues over a gap: "wanted bytes ...,
% found ...".
% For the user: space that is in use is given out again, and its contents are overwritten.
violation(107, 10, k(START, free_space_bitmap, LENGTH)) :-
  add(10, k(START, free_space_bitmap, LENGTH)),
  free_space_followed,
  query(10, k(START, free_space_bitmap, LENGTH), chunk, GROUP),
  query(10, k(GROUP, free_space_info, SIZE)),
  not(is_piece(START - GROUP, LENGTH, SIZE)).

violation(107, 10, k(START, free_space_bitmap, LENGTH)) :-
  old(10, k(START, free_space_bitmap, LENGTH), chunk, GROUP),
  free_space_followed,
  query(10, k(GROUP, free_space_info, _), flags, 1),
  not(query(10, k(START, free_space_bitmap, _))).

% A bitmap that begins OFFSET bytes into a block group of SIZE bytes has the right place and
% length (BTRFS_FREE_SPACE_BITMAP_BITS).
is_piece(OFFSET, LENGTH, SIZE) :-
  sectorsize(SECTOR),
  OFFSET mod (2048 * SECTOR) =:= 0,
  LENGTH =:= min(2048 * SECTOR, SIZE - OFFSET).

% Rule 78. Space is either in use or free: the free space of a block group shrinks by as much as
% used grows, and in a new block group the two add up to its length.
% Source: add_to_free_space_tree, remove_from_free_space_tree; btrfs check, "there is no free
% space entry for ...". Checked incrementally.
% For the user: free space is lost, or space that is in use is given out again.
violation(78, 10, k(GROUP, free_space_info, LENGTH)) :-
  ( change(_, k(GROUP, block_group_item, _), used, _, _) ; free_space_changed(GROUP) ),
  verify(space_agrees(GROUP)),
  group_followed(GROUP, LENGTH).

free_space_changed(GROUP) :-
  free_piece(PIECE),
  ( new(10, PIECE, chunk, GROUP) ; old(10, PIECE, chunk, GROUP) ).

free_piece(k(_, free_space_extent, _)).
free_piece(k(_, free_space_run, a(_, _))).

% A block group that existed before with the same length, or that is new. Nothing is known about
% the tree before the superblock first said that it is valid.
group_followed(GROUP, LENGTH) :-
  query(10, k(GROUP, free_space_info, LENGTH)),
  not(delete(10, k(GROUP, free_space_info, _))),
  not(change(0, k(0, super_block, 0), f(compat_ro_flags, free_space_tree_valid), 0, 1)),
  free_space_followed.

space_agrees(GROUP) :-
  ( add(10, k(GROUP, free_space_info, LENGTH)) ->
      group_tree(TREE),
      query(TREE, k(GROUP, block_group_item, LENGTH), used, USED),
      BEFORE is LENGTH - USED
  ; sum(USED, default_zero(_, k(GROUP, block_group_item, _), used, _, USED), USED_NEW),
    sum(USED, default_zero(_, k(GROUP, block_group_item, _), used, USED, _), USED_OLD),
    BEFORE is USED_OLD - USED_NEW ),
  sum(LENGTH_NEW, change(10, k(_, free_space_extent, LENGTH_NEW), chunk, _, GROUP), EXTENTS_NEW),
  sum(LENGTH_OLD, change(10, k(_, free_space_extent, LENGTH_OLD), chunk, GROUP, _), EXTENTS_OLD),
  sum(BITS, bits_changed(GROUP, BITS), SECTORS),
  sectorsize(SECTOR),
  EXTENTS_NEW + SECTORS * SECTOR =:= EXTENTS_OLD + BEFORE.

bits_changed(GROUP, BITS) :-
  change(10, k(START, free_space_bitmap, SIZE), free, OLD, NEW),
  OLD \== null,
  NEW \== null,
  BITS is NEW - OLD,
  query(10, k(START, free_space_bitmap, SIZE), chunk, GROUP).
bits_changed(GROUP, BITS) :-
  change(10, k(START, free_space_bitmap, SIZE), chunk, null, GROUP),
  new(10, k(START, free_space_bitmap, SIZE), free, BITS).
bits_changed(GROUP, BITS) :-
  change(10, k(START, free_space_bitmap, SIZE), chunk, GROUP, null),
  old(10, k(START, free_space_bitmap, SIZE), free, FREE),
  BITS is -FREE.

% Rule 79. The extent_count of a free_space_info is the number of free_space_extents in its block
% group, or of runs of free sectors in its bitmaps.
% Source: update_free_space_extent_count; btrfs check, "free space info recorded ... extents,
% counted ...".
% For the user: the free space has to be searched for again, or the file system cannot be written
% to.
violation(79, 10, k(GROUP, free_space_info, LENGTH)) :-
  change(10, k(GROUP, free_space_info, LENGTH), extent_count, _, _),
  verify(free_extents_agree(GROUP, LENGTH)),
  group_followed(GROUP, LENGTH).

violation(79, 10, k(GROUP, free_space_info, LENGTH)) :-
  free_space_changed(GROUP),
  group_followed(GROUP, LENGTH),
  verify(free_extents_agree(GROUP, LENGTH)).

% If the block group changes from extents to bitmaps or back, all its pieces are new.
free_extents_agree(GROUP, LENGTH) :-
  query(10, k(GROUP, free_space_info, LENGTH), flags, FLAGS),
  ( change(10, k(GROUP, free_space_info, LENGTH), flags, _, _) ->
      query(10, k(GROUP, free_space_info, LENGTH), extent_count, NEW),
      OLD = 0
  ; sum(N_NEW, default_zero(10, k(GROUP, free_space_info, LENGTH), extent_count, _, N_NEW), NEW),
    sum(N_OLD, default_zero(10, k(GROUP, free_space_info, LENGTH), extent_count, N_OLD, _), OLD) ),
  ( FLAGS =:= 0 ->
      count(change(10, k(_, free_space_extent, _), chunk, _, GROUP), CAME),
      count(change(10, k(_, free_space_extent, _), chunk, GROUP, _), WENT),
      JOINED = 0
  ; count(change(10, k(_, free_space_run, a(_, _)), chunk, _, GROUP), CAME),
    count(change(10, k(_, free_space_run, a(_, _)), chunk, GROUP, _), WENT),
    sum(N_JOINED, runs_joined(GROUP, N_JOINED), JOINED) ),
  NEW + WENT + JOINED =:= OLD + CAME.

% Two runs that meet where one bitmap ends and the next begins count as one. JOINED is how many
% more such pairs there are than before. A free_space_info stands between the bitmaps of two block
% groups.
runs_joined(GROUP, JOINED) :-
  default_zero(10, k(START, free_space_bitmap, SIZE), first, OLD, NEW),
  query(10, k(START, free_space_bitmap, SIZE), chunk, GROUP),
  previous(10, k(START, free_space_bitmap, SIZE), k(BEFORE, free_space_bitmap, LENGTH)),
  query(10, k(BEFORE, free_space_bitmap, LENGTH), last, LAST),
  ( default_zero(10, k(BEFORE, free_space_bitmap, LENGTH), last, WAS, _) ->
      LAST_OLD = WAS
  ; LAST_OLD = LAST ),
  JOINED is LAST * NEW - LAST_OLD * OLD.
runs_joined(GROUP, JOINED) :-
  default_zero(10, k(START, free_space_bitmap, SIZE), last, OLD, NEW),
  query(10, k(START, free_space_bitmap, SIZE), chunk, GROUP),
  next(10, k(START, free_space_bitmap, SIZE), k(AFTER, free_space_bitmap, LENGTH)),
  not(change(10, k(AFTER, free_space_bitmap, LENGTH), first, _, _)),
  query(10, k(AFTER, free_space_bitmap, LENGTH), first, FIRST),
  JOINED is (NEW - OLD) * FIRST.

% Rule 80. Space that is added to the free space tree has no extent in it.
% Source: btrfs check, "there is no free space entry for ..." and "wanted offset ..., found ...".
% For the user: the space is given out again, and its contents are overwritten.
violation(80, 10, k(START, free_space_extent, LENGTH)) :-
  add(10, k(START, free_space_extent, LENGTH)),
  free_space_followed,
  END is START + LENGTH,
  extent_within(START, END).

violation(80, 10, k(BITMAP, free_space_run, a(LENGTH, START))) :-
  new(10, k(BITMAP, free_space_run, a(LENGTH, START)), end, END),
  free_space_followed,
  extent_within(START, END).

% Some extent has bytes from START up to END.
extent_within(START, END) :-
  extent_before(END, EXTENT, SIZE),
  EXTENT + SIZE > START.

% Rule 81. An extent that is added has no part in the free space tree.
% Source: alloc_reserved_file_extent, alloc_reserved_tree_block, which take it out of the tree.
% For the user: the space is given out again, and its contents are overwritten.
violation(81, 2, k(EXTENT, KIND, X)) :-
  extent_kind(KIND),
  add(2, k(EXTENT, KIND, X)),
  free_space_followed,
  extent_length(KIND, X, SIZE),
  query(-1, k(EXTENT, free_space, SIZE)).
