% The data of files. The nbytes of an extent_data is what it counts for in the nbytes of its inode (nothing
% for a hole), its end is the offset in the file where it ends.

% Rule 20. Only files and symbolic links have data.
% Source: thesis, table 5.2, on directories; btrfs check, I_ERR_ODD_FILE_EXTENT. The same goes for devices, pipes and sockets.
% For the user: a file would have turned into something else, and its contents could not be read.
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

% Holds once, however much data there is.
has_data(TREE, INODE) :- \+ \+ query(TREE, k(INODE, extent_data, _)).

% Rule 24. The nbytes of a file is the sum of what its extents count for: num_bytes, ram_bytes if it is inline, nothing for a hole.
% Source: thesis, table 5.1, as an invariant of the change; btrfs check, I_ERR_FILE_NBYTES_WRONG. An inode without names
% is exempt, as its extents go one by one.
% For the user: the space that the file takes would be shown wrong, and quota would follow it.
violation(24, TREE, k(INODE, inode_item, 0)) :-
  change(TREE, k(INODE, inode_item, 0), nbytes, _, _),
  file_tree(TREE),
  verify(nbytes_agrees(TREE, INODE)),
  inode_type(TREE, INODE, TYPE),
  TYPE \= s_ifdir,
  not(dying(TREE, INODE)).

violation(24, TREE, k(INODE, inode_item, 0)) :-
  change(TREE, k(INODE, extent_data, _), nbytes, _, _),
  file_tree(TREE),
  verify(nbytes_agrees(TREE, INODE)),
  query(TREE, k(INODE, inode_item, 0)),
  not(dying(TREE, INODE)).

nbytes_agrees(TREE, INODE) :-
  sum(N, new(TREE, k(INODE, extent_data, _), nbytes, N), ADDED),
  sum(N, old(TREE, k(INODE, extent_data, _), nbytes, N), GONE),
  nbytes_change(TREE, INODE, OLD, NEW),
  NEW + GONE =:= OLD + ADDED.

nbytes_change(TREE, INODE, OLD, NEW) :-
  ( default_zero(TREE, k(INODE, inode_item, 0), nbytes, BEFORE, AFTER) -> OLD = BEFORE, NEW = AFTER ; OLD = 0, NEW = 0 ).

% Rule 25. A file has an extent for each part of it up to its size, if the file system writes holes as extents.
% Source: thesis, table 5.1; btrfs check, I_ERR_FILE_EXTENT_DISCOUNT. With the feature NO_HOLES, the default since
% btrfs-progs 5.15, there need be no extent where there is no data, and this rule has nothing to say.
% For the user: contents of the file would be lost and read as zeros.
violation(25, TREE, k(INODE, extent_data, OFFSET)) :-
  new(TREE, k(INODE, extent_data, OFFSET)),
  file_tree(TREE),
  verify(holes_need_no_extent),
  file_size(TREE, INODE, SIZE),
  query(TREE, k(INODE, extent_data, OFFSET), end, END),
  ( END < SIZE, not(query(TREE, k(INODE, extent_data, END)))
  ; OFFSET > 0, OFFSET < SIZE, not(covered(TREE, INODE, OFFSET - 1)) ).

violation(25, TREE, k(INODE, extent_data, OFFSET)) :-
  delete(TREE, k(INODE, extent_data, OFFSET)),
  file_tree(TREE),
  verify(holes_need_no_extent),
  file_size(TREE, INODE, SIZE),
  OFFSET < SIZE,
  not(covered(TREE, INODE, OFFSET)).

violation(25, TREE, k(INODE, inode_item, 0)) :-
  new(TREE, k(INODE, inode_item, 0), size, SIZE),
  SIZE > 0,
  file_tree(TREE),
  verify(holes_need_no_extent),
  file_size(TREE, INODE, SIZE),
  LAST is SIZE - 1,
  not(covered(TREE, INODE, LAST)).

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

% The size of a file or symbolic link that has names.
file_size(TREE, INODE, SIZE) :-
  inode_type(TREE, INODE, TYPE),
  data_type(TYPE),
  query(TREE, k(INODE, inode_item, 0), nlink, LINKS),
  LINKS > 0,
  query(TREE, k(INODE, inode_item, 0), size, SIZE).

data_type(s_ifreg).
data_type(s_iflnk).

% An extent of the file has the byte at POSITION.
covered(TREE, INODE, POSITION) :-
  extent_from(TREE, INODE, POSITION, END),
  END > POSITION.

% The end of the last extent that begins at POSITION or before.
extent_from(TREE, INODE, POSITION, END) :-
  last_of_range(TREE, k(INODE, extent_data, OFFSET), 0, POSITION),
  query(TREE, k(INODE, extent_data, OFFSET), end, END).

% Rule 55. The extents of a file do not overlap: one that is added or changed ends before the next begins, and begins after the one before it has ended.
% Source: btrfs check, I_ERR_FILE_EXTENT_OVERLAP; check_extent_data_item, within a leaf.
% For the user: which of two contents the file has would depend on how it is read.
violation(55, TREE, k(INODE, extent_data, OFFSET)) :-
  new(TREE, k(INODE, extent_data, OFFSET)),
  file_tree(TREE),
  query(TREE, k(INODE, extent_data, OFFSET), end, END),
  once(range(TREE, k(INODE, extent_data, _), OFFSET + 1, END - 1)).

violation(55, TREE, k(INODE, extent_data, OFFSET)) :-
  add(TREE, k(INODE, extent_data, OFFSET)),
  file_tree(TREE),
  not(add(TREE, k(INODE, inode_item, 0))), % all extents of a new file are new: the clause above sees each pair
  BEFORE is OFFSET - 1,
  extent_from(TREE, INODE, BEFORE, END),
  END > OFFSET.
