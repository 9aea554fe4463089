% The log: what fsync wrote since the last commit. After a crash the next mount puts it into the trees, so
% that what is wrong in it is wrong in them. Its objects stand in tree -6; the logs of several subvolumes
% are judged one by one. In the other trees queries find what the last commit left.

% Rule 91. What a log has of an inode comes with the inode.
% Source: fs/btrfs/tree-log.c, btrfs_log_inode(): the inode_item is always logged, and replay_one_buffer() relies on it.
% For the user: after a crash a file would get its parts and not itself: it could not be opened.
violation(91, -6, k(INODE, KIND, OFFSET)) :-
  add(-6, k(INODE, KIND, OFFSET)),
  KIND \== extent_csum,
  KIND \== root_item,
  not(query(-6, k(INODE, inode_item, 0))).

violation(91, -6, k(INODE, KIND, OFFSET)) :-
  delete(-6, k(INODE, inode_item, 0)),
  query(-6, k(INODE, KIND, OFFSET)).

% Rule 92. Data that a log makes part of a file has checksums, in the log or in the csum tree, unless the file goes without.
% Source: fs/btrfs/tree-log.c, log_extent_csums() and copy_items(); btrfs check, check_log_csum().
% For the user: after a crash, reading the file that was synced would fail with an I/O error.
violation(92, -6, k(INODE, extent_data, OFFSET)) :-
  new(-6, k(INODE, extent_data, OFFSET)),
  query(-6, k(INODE, extent_data, OFFSET), type, data),
  query(-6, k(INODE, extent_data, OFFSET), disk_bytenr, BYTENR),
  BYTENR > 0,
  not(query(-6, k(INODE, inode_item, 0), f(flags,nodatasum), 1)),
  logged_range(k(INODE, extent_data, OFFSET), BYTENR, FROM, TO),
  not(has_sums(FROM, TO)).

% The part of the disk that is read for an extent: a compressed one is read whole.
logged_range(EXTENT, BYTENR, FROM, TO) :-
  query(-6, EXTENT, compression, 0),
  query(-6, EXTENT, extent_offset, OFFSET),
  query(-6, EXTENT, num_bytes, LENGTH),
  FROM is BYTENR + OFFSET,
  TO is FROM + LENGTH.
logged_range(EXTENT, BYTENR, BYTENR, TO) :-
  not(query(-6, EXTENT, compression, 0)),
  query(-6, EXTENT, disk_num_bytes, LENGTH),
  TO is BYTENR + LENGTH.

has_sums(FROM, TO) :- FROM >= TO.
has_sums(FROM, TO) :-
  sums_at(FROM, END),
  has_sums(END, TO).

sums_at(FROM, END) :-
  csum_tree(TREE),
  BEHIND is FROM + 1,
  previous(TREE, k(-10, extent_csum, BEHIND), k(-10, extent_csum, START)),
  query(TREE, k(-10, extent_csum, START), nsums, SUMS),
  query(0, k(0, super_block, 0), sectorsize, SECTOR),
  END is START + SUMS * SECTOR,
  FROM < END.

csum_tree(-6).
csum_tree(7).

% Rule 93. An extent in a log is one of the last commit, or lies where that has none.
% Source: fs/btrfs/tree-log.c, replay_one_extent(), which takes an extent that is not there for a new one.
% For the user: after a crash, two files would share the same disk space, and writing one would destroy the other.
violation(93, -6, k(INODE, extent_data, OFFSET)) :-
  new(-6, k(INODE, extent_data, OFFSET)),
  query(-6, k(INODE, extent_data, OFFSET), disk_bytenr, BYTENR),
  query(-6, k(INODE, extent_data, OFFSET), disk_num_bytes, LENGTH),
  not(query(2, k(BYTENR, extent_item, LENGTH))),
  END is BYTENR + LENGTH,
  previous_extent(k(END, extent_item, 0), k(EXTENT, KIND, X)),
  extent_length(KIND, X, SIZE),
  EXTENT + SIZE > BYTENR.

% Rule 94. The extents of a file in a log do not overlap.
% Source: fs/btrfs/tree-checker.c, check_extent_data_item().
% For the user: after a crash, the same part of a file would be in two places, and old data could come back.
violation(94, -6, k(INODE, extent_data, OFFSET)) :-
  new(-6, k(INODE, extent_data, OFFSET)),
  query(-6, k(INODE, extent_data, OFFSET), num_bytes, LENGTH),
  next(-6, k(INODE, extent_data, OFFSET), k(INODE, extent_data, NEXT)),
  NEXT < OFFSET + LENGTH.

violation(94, -6, k(INODE, extent_data, OFFSET)) :-
  add(-6, k(INODE, extent_data, OFFSET)),
  previous(-6, k(INODE, extent_data, OFFSET), k(INODE, extent_data, BEFORE)),
  query(-6, k(INODE, extent_data, BEFORE), num_bytes, LENGTH),
  OFFSET < BEFORE + LENGTH.

% Rule 95. A log has directory entries of directories alone, each of the type that its inode has in the log.
% Source: fs/btrfs/tree-log.c, replay_one_dir_item(); rules 13 and 16 say it of trees.
% For the user: after a crash, a file would be taken for a directory or a device, and opening it would fail or do harm.
violation(95, -6, k(DIR, KIND, OFFSET)) :-
  logged_entry(KIND),
  new(-6, k(DIR, KIND, OFFSET)),
  query(-6, k(DIR, inode_item, 0), f(mode, s_ifmt), TYPE),
  TYPE \= s_ifdir.

violation(95, -6, k(DIR, KIND, OFFSET)) :-
  entry_kind(KIND),
  new(-6, k(DIR, KIND, OFFSET)),
  query(-6, k(DIR, KIND, OFFSET), location, k(INODE, inode_item, 0)),
  query(-6, k(INODE, inode_item, 0), f(mode, s_ifmt), TYPE),
  not(query(-6, k(DIR, KIND, OFFSET), type, TYPE)).

logged_entry(KIND) :- entry_kind(KIND).
logged_entry(dir_log_item).
logged_entry(dir_log_index).

% Rule 96. A range of directory entries that a log has in full ends at or behind its start.
% Source: fs/btrfs/tree-log.c, insert_dir_log_key() and replay_dir_deletes().
% For the user: after a crash, entries that were there would be deleted, or deleted ones come back.
violation(96, -6, k(DIR, KIND, FIRST)) :-
  logged_range_kind(KIND),
  new(-6, k(DIR, KIND, FIRST), end, LAST),
  LAST < FIRST.

logged_range_kind(dir_log_item).
logged_range_kind(dir_log_index).

% Rule 97. An inode has at most 65,535 names, in a log too, which does not have all of them to be counted.
% Source: BTRFS_LINK_MAX, btrfs_link().
% For the user: the file could get no further name, and be kept for ever when its names go.
violation(97, TREE, k(INODE, inode_item, 0)) :-
  new(TREE, k(INODE, inode_item, 0), nlink, LINKS),
  LINKS > 65535.

% Rule 100. What a log says is preallocated was not written: it has no checksums in the log.
% Source: fs/btrfs/tree-log.c, log_extent_csums(); btrfs check, "odd csum item" (rule 21). Of an extent that has checksums
% in the csum tree it is not said: old kernels wrote where several files share what is preallocated.
% For the user: after a crash, the data that was synced would be gone: the file would read as zeros.
violation(100, -6, k(INODE, extent_data, OFFSET)) :-
  new(-6, k(INODE, extent_data, OFFSET)),
  query(-6, k(INODE, extent_data, OFFSET), type, prealloc),
  query(-6, k(INODE, extent_data, OFFSET), disk_bytenr, BYTENR),
  query(-6, k(INODE, extent_data, OFFSET), extent_offset, SKIP),
  query(-6, k(INODE, extent_data, OFFSET), num_bytes, LENGTH),
  FROM is BYTENR + SKIP,
  has_a_sum(-6, FROM, FROM + LENGTH).

has_a_sum(TREE, FROM, TO) :-
  last_of_range(TREE, k(-10, extent_csum, START), 0, TO - 1),
  query(TREE, k(-10, extent_csum, START), nsums, SUMS),
  query(0, k(0, super_block, 0), sectorsize, SECTOR),
  START + SUMS * SECTOR > FROM.

% Rule 102. A log is of a subvolume that the last commit has.
% Source: fs/btrfs/tree-log.c, btrfs_recover_log_trees(), which passes over the log of a subvolume that is not there, and btrfs_log_inode_parent(): of a
% subvolume that is made in the same transaction nothing is logged.
% For the user: after a crash all that was synced in a subvolume would be gone.
violation(102, -6, k(-6, root_item, SUBVOL)) :-
  new(-6, k(-6, root_item, SUBVOL)),
  not(query(1, k(SUBVOL, root_item, _))).

% Rule 103. The data of a file that goes without checksums (nodatasum) in a log has none, in the log or in the csum tree.
% Source: btrfs check, "odd csum item": rules 21 and 22 say it of trees. The flag changes while a file is empty (btrfs_ioctl_setflags).
% For the user: after a crash the file is written without its checksums being kept up to date, and then cannot be read.
violation(103, -6, k(INODE, extent_data, OFFSET)) :-
  new(-6, k(INODE, extent_data, OFFSET)),
  query(-6, k(INODE, inode_item, 0), f(flags,nodatasum), 1),
  logged_with_sums(k(INODE, extent_data, OFFSET)).

violation(103, -6, k(INODE, extent_data, OFFSET)) :-
  new(-6, k(INODE, inode_item, 0), f(flags,nodatasum), 1),
  logged_with_sums(k(INODE, extent_data, OFFSET)).

logged_with_sums(EXTENT) :-
  query(-6, EXTENT, type, data),
  query(-6, EXTENT, disk_bytenr, BYTENR),
  BYTENR > 0,
  logged_range(EXTENT, BYTENR, FROM, TO),
  csum_tree(TREE),
  has_a_sum(TREE, FROM, TO).

% Rule 104. An inode of a log that is older than the running transaction is one of the subvolume, made in the same transaction; one that is new is none of it yet.
% Source: fs/btrfs/tree-log.c, overwrite_item(), which puts what the log has over what the subvolume has; btrfs_get_free_objectid(), which gives no number
% twice (inode_cache, of kernels before 5.11, did). fill_inode_item() gives an inode that is only said to be there no generation.
% For the user: after a crash files would be put over others, or the file system could not be mounted.
violation(104, -6, k(INODE, inode_item, 0)) :-
  new(-6, k(INODE, inode_item, 0), generation, MADE),
  MADE > 0,
  query(0, k(0, super_block, 0), generation, COMMITTED),
  query(0, k(0, super_block, 0), log_of, SUBVOL),
  ( MADE =< COMMITTED -> not(query(SUBVOL, k(INODE, inode_item, 0), generation, MADE)) ; query(SUBVOL, k(INODE, inode_item, 0)) ).
