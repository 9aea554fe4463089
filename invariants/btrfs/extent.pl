% Extents: which parts of the disk are in use.

% Rule 6. Extents do not overlap: an added extent begins at or after the end of the previous one,
% and ends at or before the beginning of the next.
% Source: thesis, figure 3.2 and table 5.2. Extended to metadata_item, whose key has no length: a
% metadata block is nodesize long. Back references and block groups, whose keys can stand between
% extents, are skipped. Two extents cannot begin at the same place, either.
% For the user: two files, or a file and the file system itself, share the same disk space, and
% writing to one destroys the other.
violation(6, 2, k(EXTENT, KIND, X)) :-
  extent_kind(KIND),
  add(2, k(EXTENT, KIND, X)),
  extent_before(EXTENT, EXTENT_PREV, SIZE_PREV),
  EXTENT < EXTENT_PREV + SIZE_PREV.

violation(6, 2, k(EXTENT, KIND, X)) :-
  extent_kind(KIND),
  add(2, k(EXTENT, KIND, X)),
  extent_length(KIND, X, SIZE),
  extent_behind(EXTENT, SIZE).

violation(6, 2, k(EXTENT, KIND, X)) :-
  extent_kind(KIND),
  add(2, k(EXTENT, KIND, X)),
  ( previous(2, k(EXTENT, KIND, X), k(EXTENT, OTHER, _)) ;
    next(2, k(EXTENT, KIND, X), k(EXTENT, OTHER, _)) ),
  extent_kind(OTHER).

extent_kind(extent_item).
extent_kind(metadata_item).

extent_length(extent_item, LENGTH, LENGTH).
extent_length(metadata_item, _, LENGTH) :- query(0, k(0, super_block, 0), nodesize, LENGTH).

% The nearest extent that begins before ADDRESS in its block group, and its size. The item before
% ADDRESS is an extent or one of its references, which has the address of the extent. Or it is the
% item of a block group that begins without an extent: no extent of another one reaches beyond
% (rule 49).
extent_before(ADDRESS, EXTENT, SIZE) :-
  previous(2, k(ADDRESS, extent_item, 0), k(EXTENT, _, _)),
  EXTENT < ADDRESS,
  extent_kind(KIND),
  query(2, k(EXTENT, KIND, X)),
  extent_length(KIND, X, SIZE).

% Some extent begins behind EXTENT, within SIZE bytes.
extent_behind(EXTENT, SIZE) :-
  FROM is EXTENT + 1,
  TO is EXTENT + SIZE - 1,
  once(( range(2, k(_, KIND, _), k(FROM, _, _), k(TO, _, _)), extent_kind(KIND) )).
