% Checksums of data.

% Rule 23. All data that a file extent reads has checksums, for as long as the extent exists,
% unless the inode has the flag nodatasum.
% Source: thesis, table 5.1; btrfs check, "some csum missing" (count_csum_range in
% process_file_extent). A preallocated extent has no data yet. A compressed extent is read as a
% whole.
% For the user: the file cannot be read: each read of it ends with EIO.
% Cost: the items of checksums and the extents that lie in one range of at most 128 MiB; few ranges
% overlap, and verify/1 asks once for each.
violation(23, TREE, k(INODE, extent_data, OFFSET)) :-
  new(TREE, k(INODE, extent_data, OFFSET)),
  file_tree(TREE),
  query(TREE, k(INODE, extent_data, OFFSET), type, data),
  query(TREE, k(INODE, inode_item, 0), f(flags, nodatasum), 0),
  read_range(TREE, k(INODE, extent_data, OFFSET), START, END),
  verify(csums_cover(START, END)).

violation(23, TREE, k(INODE, extent_data, OFFSET)) :-
  change(TREE, k(INODE, inode_item, 0), f(flags, nodatasum), 1, 0),
  file_tree(TREE),
  query(TREE, k(INODE, extent_data, OFFSET), type, data),
  read_range(TREE, k(INODE, extent_data, OFFSET), START, END),
  verify(csums_cover(START, END)).

% An extent keeps its checksums: btrfs_del_csums is only for extents that are freed. btrfs check
% --init-csum-tree makes all checksums anew, from what files read.
violation(23, 7, k(-10, extent_csum, START)) :-
  default_zero(7, k(-10, extent_csum, START), nsums, OLD, NEW),
  NEW < OLD,
  by_linux,
  sectorsize(SECTOR),
  FROM is START + NEW * SECTOR,
  TO is START + OLD * SECTOR,
  extent_from_to(FROM, TO, EXTENT, LENGTH),
  not(add(2, k(EXTENT, extent_item, LENGTH))),
  LOW is max(FROM, EXTENT),
  HIGH is min(TO, EXTENT + LENGTH),
  not(csums_cover(LOW, HIGH)).

% Finds each extent with bytes from START up to END: the one that begins before START, and those
% that begin inside.
extent_from_to(START, _, EXTENT, LENGTH) :-
  extent_before(START, EXTENT, LENGTH),
  EXTENT + LENGTH > START.
extent_from_to(START, END, EXTENT, LENGTH) :-
  LAST is END - 1,
  range(2, k(EXTENT, extent_item, LENGTH),
    k(START, extent_item, 0), k(LAST, extent_item, 18446744073709551615)).

sectorsize(SECTOR) :- query(0, k(0, super_block, 0), sectorsize, SECTOR).

% The range of the disk that a file extent reads, from START up to END. A hole reads nothing.
read_range(TREE, ID, START, END) :-
  query(TREE, ID, disk_bytenr, EXTENT),
  EXTENT =\= 0,
  query(TREE, ID, compression, COMPRESSION),
  ( COMPRESSION =\= 0 ->
      START is EXTENT,
      query(TREE, ID, disk_num_bytes, LENGTH)
  ; query(TREE, ID, extent_offset, SKIP),
    START is EXTENT + SKIP,
    query(TREE, ID, num_bytes, LENGTH) ),
  END is START + LENGTH.

% All bytes from START up to END have checksums, in as many items as it takes.
csums_cover(START, END) :-
  last_of_range(7, k(-10, extent_csum, AT), 0, START),
  query(7, k(-10, extent_csum, AT), nsums, COUNT),
  sectorsize(SECTOR),
  REACH is AT + COUNT * SECTOR,
  REACH > START,
  ( REACH >= END -> true ; csums_cover(REACH, END) ).

% Some byte from START up to END has a checksum.
csums_touch(START, END) :-
  last_of_range(7, k(-10, extent_csum, AT), 0, END - 1),
  query(7, k(-10, extent_csum, AT), nsums, COUNT),
  sectorsize(SECTOR),
  AT + COUNT * SECTOR > START.

% Rule 21. Data of a file with the flag nodatasum has no checksums, and neither has preallocated
% space.
% Source: thesis, table 5.1; btrfs check, "odd csum item" (check_prealloc_extent_written).
% For the user: the file is written without updating its checksums, and then cannot be read.
violation(21, TREE, k(INODE, extent_data, OFFSET)) :-
  new(TREE, k(INODE, extent_data, OFFSET)),
  file_tree(TREE),
  query(TREE, k(INODE, inode_item, 0), f(flags, nodatasum), 1),
  query(TREE, k(INODE, extent_data, OFFSET), type, data),
  read_range(TREE, k(INODE, extent_data, OFFSET), START, END),
  csums_touch(START, END).

violation(21, TREE, k(INODE, extent_data, OFFSET)) :-
  change(TREE, k(INODE, inode_item, 0), f(flags, nodatasum), 0, 1),
  file_tree(TREE),
  query(TREE, k(INODE, extent_data, OFFSET), type, data),
  read_range(TREE, k(INODE, extent_data, OFFSET), START, END),
  csums_touch(START, END).

% Preallocated space is not written yet. In a commit, the clause asks only for an extent that the
% commit allocates, or turns from data to preallocated, and that one file alone uses: old kernels
% wrote where several files share preallocated space, and each file's own extents show what it
% wrote.
violation(21, TREE, k(INODE, extent_data, OFFSET)) :-
  new(TREE, k(INODE, extent_data, OFFSET), type, prealloc),
  file_tree(TREE),
  not(add(0, k(0, super_block, 0))),
  query(TREE, k(INODE, extent_data, OFFSET), backref, k(EXTENT, extent_data_ref, HASH)),
  ( add(2, k(EXTENT, extent_item, _)) -> true
  ; change(TREE, k(INODE, extent_data, OFFSET), type, data, prealloc),
    not(change(TREE, k(INODE, extent_data, OFFSET), disk_bytenr, _, _)) ),
  % All references to the extent are those of the file: there may be many others.
  query(TREE, k(INODE, extent_data, OFFSET), disk_num_bytes, LENGTH),
  query(2, k(EXTENT, extent_item, LENGTH), refs, USES),
  query(2, k(EXTENT, extent_data_ref, HASH), count, USES),
  read_range(TREE, k(INODE, extent_data, OFFSET), START, END),
  csums_touch(START, END).

% Rule 22. No checksum is added for an extent of a file with the flag nodatasum.
% Source: thesis, table 5.2: rule 21 seen from the checksum, through the back references of an
% extent that is added.
% For the user: the file is written without updating its checksums, and then cannot be read.
% Cost: each extent lies in the range of few records, so that each new reference is looked at few
% times.
violation(22, 7, k(-10, extent_csum, START)) :-
  default_zero(7, k(-10, extent_csum, START), nsums, OLD, NEW),
  NEW > OLD,
  sectorsize(SECTOR),
  FROM is START + OLD * SECTOR,
  TO is START + NEW * SECTOR - 1,
  range(2, k(EXTENT, extent_item, LENGTH),
    k(FROM, extent_item, 0), k(TO, extent_item, 18446744073709551615)),
  add(2, k(EXTENT, extent_item, LENGTH)),
  new(2, k(EXTENT, extent_data_ref, HASH), root, ROOT),
  file_tree(ROOT),
  query(2, k(EXTENT, extent_data_ref, HASH), objectid, INODE),
  query(ROOT, k(INODE, inode_item, 0), f(flags, nodatasum), 1).

% Rule 72. A checksum lies within extents, and is removed with them.
% Source: btrfs check, "csum exists for ... but there is no extent record". A log that waits to be
% replayed may still add the extent, so an added checksum is not checked while log_root is set;
% after a commit it never is.
% For the user: data that is written to that space later does not match its checksum and cannot be
% read.
violation(72, 7, k(-10, extent_csum, START)) :-
  default_zero(7, k(-10, extent_csum, START), nsums, OLD, NEW),
  NEW > OLD,
  query(0, k(0, super_block, 0), log_root, 0),
  sectorsize(SECTOR),
  FROM is START + OLD * SECTOR,
  TO is START + NEW * SECTOR,
  not(extents_cover(FROM, TO)).

violation(72, 2, k(EXTENT, extent_item, LENGTH)) :-
  old(2, k(EXTENT, extent_item, LENGTH), flags, data),
  sectorsize(SECTOR),
  csums_touch(EXTENT, EXTENT + SECTOR),
  not(extents_cover(EXTENT, EXTENT + SECTOR)).

% Extents cover all bytes from START up to END.
extents_cover(START, END) :-
  AFTER is START + 1,
  extent_before(AFTER, EXTENT, LENGTH),
  REACH is EXTENT + LENGTH,
  REACH > START,
  ( REACH >= END -> true ; extents_cover(REACH, END) ).
