% The log: what fsync wrote since the last commit. After a crash the next mount replays it into
% the trees, so that a fault in the log becomes a fault in the trees. Its objects are in tree -6.
% The logs of several subvolumes are checked one by one. In the other trees, queries find what the
% last commit left.

% Rule 91. Each item of an inode in a log comes with the inode's inode_item.
% Source: fs/btrfs/tree-log.c, btrfs_log_inode(): the inode_item is always logged, and
% replay_one_buffer() relies on it.
% For the user: after a crash a file has its parts but no inode, and cannot be opened.
violation(91, -6, k(INODE, KIND, OFFSET)) :-
  add(-6, k(INODE, KIND, OFFSET)),
  KIND \== extent_csum,
  KIND \== root_item,
  not(query(-6, k(INODE, inode_item, 0))).

violation(91, -6, k(INODE, KIND, OFFSET)) :-
  delete(-6, k(INODE, inode_item, 0)),
  query(-6, k(INODE, KIND, OFFSET)).

% Rule 92. Data that a log makes part of a file has checksums, in the log or in the csum tree,
% unless the inode has the flag nodatasum.
% Source: fs/btrfs/tree-log.c, log_extent_csums() and copy_items(); btrfs check, check_log_csum().
% For the user: after a crash, reading the file that was synced fails with an I/O error.
violation(92, -6, k(INODE, extent_data, OFFSET)) :-
  new(-6, k(INODE, extent_data, OFFSET)),
  query(-6, k(INODE, extent_data, OFFSET), type, data),
  query(-6, k(INODE, extent_data, OFFSET), disk_bytenr, BYTENR),
  BYTENR > 0,
  not(query(-6, k(INODE, inode_item, 0), f(flags,nodatasum), 1)),
  logged_range(k(INODE, extent_data, OFFSET), BYTENR, FROM, TO),
  not(has_sums(FROM, TO)).

% The range of the disk that is read for an extent. A compressed extent is read as a whole.
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

% Rule 93. An extent in a log is an extent of the last commit, or overlaps no extent of it.
% Source: fs/btrfs/tree-log.c, replay_one_extent(), which takes an extent that does not exist for
% a new one.
% For the user: after a crash, two files share the same disk space, and writing to one destroys
% the other.
violation(93, -6, k(INODE, extent_data, OFFSET)) :-
  new(-6, k(INODE, extent_data, OFFSET)),
  query(-6, k(INODE, extent_data, OFFSET), disk_bytenr, BYTENR),
  query(-6, k(INODE, extent_data, OFFSET), disk_num_bytes, LENGTH),
  BYTENR =\= 0,
  not(query(2, k(BYTENR, extent_item, LENGTH))),
  ( extent_behind(BYTENR, LENGTH)
  ; AFTER is BYTENR + 1,
    extent_before(AFTER, EXTENT, SIZE),
    EXTENT + SIZE > BYTENR ).

% Rule 94. The extents of a file in a log do not overlap.
% Source: fs/btrfs/tree-checker.c, check_extent_data_item().
% For the user: after a crash, the same part of a file is in two places, and old data can come
% back.
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

% Rule 95. In a log, only a directory has directory entries, and the type in each entry is the
% type of its inode in the log.
% Source: fs/btrfs/tree-log.c, replay_one_dir_item(); rules 13 and 16 say the same of file trees.
% For the user: after a crash, a file is taken for a directory or a device, and opening it fails
% or does harm.
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

% Rule 96. A dir_log_item or dir_log_index, which is a range of directory entries that the log has
% in full, ends at or after its start.
% Source: fs/btrfs/tree-log.c, insert_dir_log_key() and replay_dir_deletes().
% For the user: after a crash, entries that existed are deleted, or deleted ones come back.
violation(96, -6, k(DIR, KIND, FIRST)) :-
  logged_range_kind(KIND),
  new(-6, k(DIR, KIND, FIRST), end, LAST),
  LAST < FIRST.

logged_range_kind(dir_log_item).
logged_range_kind(dir_log_index).

% Rule 97. The nlink of an inode is at most 65,535, in a log as well.
% Source: BTRFS_LINK_MAX, btrfs_link(). A log does not have all names of an inode, so the rule
% reads nlink and does not count names.
% For the user: the file can get no further name, and is kept forever when its names go.
violation(97, TREE, k(INODE, inode_item, 0)) :-
  new(TREE, k(INODE, inode_item, 0), nlink, LINKS),
  LINKS > 65535.

% Rule 100. Preallocated space in a log has no checksums in the log.
% Source: fs/btrfs/tree-log.c, log_extent_csums(); btrfs check, "odd csum item" (rule 21).
% Checksums of it in the csum tree are allowed: old kernels wrote where several files share
% preallocated space.
% For the user: after a crash, the data that was synced is gone: the file reads as zeros.
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

% Rule 102. A log belongs to a subvolume that the last commit has.
% Source: fs/btrfs/tree-log.c, btrfs_recover_log_trees(), which skips the log of a subvolume that
% does not exist, and btrfs_log_inode_parent(): nothing is logged for a subvolume that is made in
% the same transaction.
% For the user: after a crash, everything that was synced in a subvolume is gone.
violation(102, -6, k(-6, root_item, SUBVOL)) :-
  new(-6, k(-6, root_item, SUBVOL)),
  not(query(1, k(SUBVOL, root_item, _))).

% Rule 103. Data in a log of a file with the flag nodatasum has no checksums, in the log or in the
% csum tree.
% Source: btrfs check, "odd csum item": rules 21 and 22 say the same of file trees. The flag
% changes while a file is empty (btrfs_ioctl_setflags).
% For the user: after a crash the file is written without updating its checksums, and then cannot
% be read.
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

% Rule 104. If the last commit has reached the generation of an inode in a log, the subvolume has
% the inode with the same generation; otherwise the subvolume does not have the inode yet.
% Source: fs/btrfs/tree-log.c, overwrite_item(), which puts the log's inode over the subvolume's;
% btrfs_get_free_objectid(), which gives no number twice (inode_cache, of kernels before 5.11,
% did). fill_inode_item() gives generation 0 to an inode that is only logged to exist.
% For the user: after a crash files replace other files, or the file system cannot be mounted.
violation(104, -6, k(INODE, inode_item, 0)) :-
  new(-6, k(INODE, inode_item, 0), generation, MADE),
  MADE > 0,
  query(0, k(0, super_block, 0), generation, COMMITTED),
  query(0, k(0, super_block, 0), log_of, SUBVOL),
  ( MADE =< COMMITTED ->
      not(query(SUBVOL, k(INODE, inode_item, 0), generation, MADE))
  ; query(SUBVOL, k(INODE, inode_item, 0)) ).

% Rule 108. The directory in which a log gives an inode a name is a directory: by the log, or by the
% subvolume if the log does not have its inode.
% Source: fs/btrfs/tree-log.c, add_inode_ref(), which adds the entry to whatever inode has the
% number, and leaves the name out if there is none.
% For the user: after a crash a file has directory entries, and the name of another file is gone.
violation(108, -6, k(INODE, KIND, a(PARENT, INDEX))) :-
  name_kind(KIND),
  add(-6, k(INODE, KIND, a(PARENT, INDEX))),
  logged_parent_type(PARENT, TYPE),
  TYPE \= s_ifdir.

logged_parent_type(PARENT, TYPE) :-
  query(-6, k(PARENT, inode_item, 0), f(mode, s_ifmt), TYPE).
logged_parent_type(PARENT, TYPE) :-
  not(query(-6, k(PARENT, inode_item, 0))),
  query(0, k(0, super_block, 0), log_of, SUBVOL),
  query(SUBVOL, k(PARENT, inode_item, 0), f(mode, s_ifmt), TYPE).
