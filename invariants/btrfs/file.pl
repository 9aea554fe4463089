% The data of files. The nbytes of an extent_data is what it adds to the nbytes of its inode (0
% for a hole). Its end is the file offset at which it ends.

% Rule 20. Only regular files and symbolic links have extent_data items.
% Source: thesis, table 5.2, on directories; btrfs check, I_ERR_ODD_FILE_EXTENT. The same holds
% for devices, pipes and sockets.
% For the user: a file has turned into something else, and its contents cannot be read.
violation(20, TREE, k(INODE, extent_data, OFFSET)) :-
  add(TREE, k(INODE, extent_data, OFFSET)),
  file_tree(TREE),
  inode_type(TREE, INODE, TYPE),
  TYPE \= s_ifreg,
  TYPE \= s_iflnk.

violation(20, TREE, k(INODE, inode_item, 0)) :-
  new(TREE, k(INODE, inode_item, 0), f(mode, s_ifmt), TYPE),
  TYPE \= s_ifreg,
  TYPE \= s_iflnk,
  file_tree(TREE),
  has_data(TREE, INODE).

% Has one solution, however much data there is.
has_data(TREE, INODE) :- \+ \+ query(TREE, k(INODE, extent_data, _)).

% Rule 24. The nbytes of a file is the sum over its extents: num_bytes each, ram_bytes for inline
% data, 0 for a hole.
% Source: thesis, table 5.1, checked incrementally; btrfs check, I_ERR_FILE_NBYTES_WRONG. An inode
% without names is exempt, as its extents go one by one. A file that is cut within compressed data
% in the item of its only extent may count sectors that were behind it: Linux frees them in one
% transaction and updates the inode in the next (btrfs_truncate, BTRFS_NEED_TRUNCATE_BLOCK).
% For the user: the space of the file is shown wrong, and counts wrong for quota.
violation(24, TREE, k(INODE, inode_item, 0)) :-
  change(TREE, k(INODE, inode_item, 0), nbytes, _, _),
  file_tree(TREE),
  verify(nbytes_agrees(TREE, INODE)),
  not(counts_what_was_cut(TREE, INODE)),
  not(counts_less_of_it(TREE, INODE)),
  inode_type(TREE, INODE, TYPE),
  TYPE \= s_ifdir,
  not(dying(TREE, INODE)).

violation(24, TREE, k(INODE, inode_item, 0)) :-
  change(TREE, k(INODE, extent_data, _), nbytes, _, _),
  file_tree(TREE),
  verify(nbytes_agrees(TREE, INODE)),
  not(change(TREE, k(INODE, inode_item, 0), nbytes, _, _)), % the clause above judges it
  not(counts_what_was_cut(TREE, INODE)),
  query(TREE, k(INODE, inode_item, 0)),
  not(dying(TREE, INODE)).

nbytes_agrees(TREE, INODE) :-
  nbytes_changes(TREE, INODE, OLD, NEW, ADDED, GONE),
  NEW + GONE =:= OLD + ADDED.

nbytes_changes(TREE, INODE, OLD, NEW, ADDED, GONE) :-
  sum(N, new(TREE, k(INODE, extent_data, _), nbytes, N), ADDED),
  sum(N, old(TREE, k(INODE, extent_data, _), nbytes, N), GONE),
  nbytes_change(TREE, INODE, OLD, NEW).

nbytes_change(TREE, INODE, OLD, NEW) :-
  ( default_zero(TREE, k(INODE, inode_item, 0), nbytes, BEFORE, AFTER) ->
      OLD = BEFORE,
      NEW = AFTER
  ; OLD = 0,
    NEW = 0 ).

% The file is being cut, and nbytes counts what was behind the data that is left.
counts_what_was_cut(TREE, INODE) :-
  cut_within_item(TREE, INODE),
  query(TREE, k(INODE, inode_item, 0), nbytes, NBYTES),
  query(TREE, k(INODE, extent_data, 0), nbytes, LEFT),
  whole_sectors(LEFT, NBYTES).

% The file was being cut: nbytes counts less too much than before.
counts_less_of_it(TREE, INODE) :-
  nbytes_changes(TREE, INODE, OLD, NEW, ADDED, GONE),
  NEW + GONE < OLD + ADDED,
  query(TREE, k(INODE, inode_item, 0), nbytes, NBYTES),
  sum(N, query(TREE, k(INODE, extent_data, _), nbytes, N), SUM),
  whole_sectors(SUM, NBYTES).

whole_sectors(FROM, TO) :-
  TO >= FROM,
  sectorsize(SECTOR),
  (TO - FROM) mod SECTOR =:= 0.

% All that is left of the file is compressed data in the item of its only extent.
cut_within_item(TREE, INODE) :-
  query(TREE, k(INODE, extent_data, 0), type, inline),
  query(TREE, k(INODE, extent_data, 0), compression, METHOD),
  METHOD > 0,
  last_of_range(TREE, k(INODE, extent_data, LAST), 0, 18446744073709551615),
  LAST =:= 0.

% Rule 25. Without the feature NO_HOLES, the extents of a file cover every byte up to its size.
% Source: thesis, table 5.1; btrfs check, I_ERR_FILE_EXTENT_DISCOUNT. With the feature NO_HOLES,
% the default since btrfs-progs 5.15, a file needs no extent where it has no data, and this rule
% says nothing. It says nothing either of a file that is cut as rule 24 has it.
% For the user: contents of the file are lost and read as zeros.
violation(25, TREE, k(INODE, extent_data, OFFSET)) :-
  new(TREE, k(INODE, extent_data, OFFSET)),
  file_tree(TREE),
  verify(holes_need_no_extent),
  file_size(TREE, INODE, SIZE),
  query(TREE, k(INODE, extent_data, OFFSET), end, END),
  ( END < SIZE, not(query(TREE, k(INODE, extent_data, END)))
  ; OFFSET > 0, OFFSET < SIZE, not(covered(TREE, INODE, OFFSET - 1)) ),
  not(cut_within_item(TREE, INODE)).

violation(25, TREE, k(INODE, extent_data, OFFSET)) :-
  delete(TREE, k(INODE, extent_data, OFFSET)),
  file_tree(TREE),
  verify(holes_need_no_extent),
  file_size(TREE, INODE, SIZE),
  OFFSET < SIZE,
  not(covered(TREE, INODE, OFFSET)),
  not(cut_within_item(TREE, INODE)).

violation(25, TREE, k(INODE, inode_item, 0)) :-
  new(TREE, k(INODE, inode_item, 0), size, SIZE),
  SIZE > 0,
  file_tree(TREE),
  verify(holes_need_no_extent),
  file_size(TREE, INODE, SIZE),
  LAST is SIZE - 1,
  not(covered(TREE, INODE, LAST)),
  not(cut_within_item(TREE, INODE)).

violation(25, TREE, k(INODE, extent_data, OFFSET)) :-
  change(TREE, k(INODE, inode_item, 0), size, OLD, SIZE),
  OLD \== null, % all extents of a new file are new
  file_tree(TREE),
  verify(holes_need_no_extent),
  file_size(TREE, INODE, SIZE),
  range(TREE, k(INODE, extent_data, OFFSET), OLD, SIZE - 1),
  OFFSET > 0,
  BEFORE is OFFSET - 1,
  not(covered(TREE, INODE, BEFORE)).

holes_need_no_extent :- query(0, k(0, super_block, 0), f(incompat_flags, no_holes), 1).

% The size of a regular file or symbolic link that has names.
file_size(TREE, INODE, SIZE) :-
  inode_type(TREE, INODE, TYPE),
  data_type(TYPE),
  query(TREE, k(INODE, inode_item, 0), nlink, LINKS),
  LINKS > 0,
  query(TREE, k(INODE, inode_item, 0), size, SIZE).

data_type(s_ifreg).
data_type(s_iflnk).

% An extent of the file contains the byte at POSITION.
covered(TREE, INODE, POSITION) :-
  extent_from(TREE, INODE, POSITION, END),
  END > POSITION.

% The end of the last extent that begins at or before POSITION.
extent_from(TREE, INODE, POSITION, END) :-
  last_of_range(TREE, k(INODE, extent_data, OFFSET), 0, POSITION),
  query(TREE, k(INODE, extent_data, OFFSET), end, END).

% Rule 55. The extents of a file do not overlap: an added or changed extent begins at or after the
% end of the previous one, and ends at or before the beginning of the next.
% Source: btrfs check, I_ERR_FILE_EXTENT_OVERLAP; check_extent_data_item, within a leaf.
% For the user: a part of the file has two contents, and the way of reading decides which of them
% appears.
violation(55, TREE, k(INODE, extent_data, OFFSET)) :-
  new(TREE, k(INODE, extent_data, OFFSET)),
  file_tree(TREE),
  query(TREE, k(INODE, extent_data, OFFSET), end, END),
  once(range(TREE, k(INODE, extent_data, _), OFFSET + 1, END - 1)).

violation(55, TREE, k(INODE, extent_data, OFFSET)) :-
  add(TREE, k(INODE, extent_data, OFFSET)),
  file_tree(TREE),
  % All extents of a new file are new: the clause above compares each pair.
  not(add(TREE, k(INODE, inode_item, 0))),
  BEFORE is OFFSET - 1,
  extent_from(TREE, INODE, BEFORE, END),
  END > OFFSET.
