% Extents: which parts of the disk are in use.

% Rule 6. Extents do not overlap: an added extent begins at or after the end of the previous one,
% and ends at or before the beginning of the next.
% Source: thesis, figure 3.2 and table 5.2. Extended to metadata_item, whose key has no length: a
% metadata block is nodesize long. Back references and block groups, whose keys can stand between
% extents, are skipped.
% For the user: two files, or a file and the file system itself, share the same disk space, and
% writing to one destroys the other.
violation(6, 2, k(EXTENT, KIND, X)) :-
  extent_kind(KIND),
  add(2, k(EXTENT, KIND, X)),
  previous_extent(k(EXTENT, KIND, X), k(EXTENT_PREV, KIND_PREV, X_PREV)),
  extent_length(KIND_PREV, X_PREV, SIZE_PREV),
  EXTENT < EXTENT_PREV + SIZE_PREV.

violation(6, 2, k(EXTENT, KIND, X)) :-
  extent_kind(KIND),
  add(2, k(EXTENT, KIND, X)),
  next_extent(k(EXTENT, KIND, X), k(EXTENT_NEXT, _, _)),
  extent_length(KIND, X, SIZE),
  EXTENT_NEXT < EXTENT + SIZE.

extent_kind(extent_item).
extent_kind(metadata_item).

extent_length(extent_item, LENGTH, LENGTH).
extent_length(metadata_item, _, LENGTH) :- query(0, k(0, super_block, 0), nodesize, LENGTH).

previous_extent(ID, EXTENT) :-
  previous(2, ID, NEAR),
  ( is_extent(NEAR) -> EXTENT = NEAR ; previous_extent(NEAR, EXTENT) ).

next_extent(ID, EXTENT) :-
  next(2, ID, NEAR),
  ( is_extent(NEAR) -> EXTENT = NEAR ; next_extent(NEAR, EXTENT) ).

is_extent(k(_, KIND, _)) :- extent_kind(KIND).
