% Inodes and the items that belong to them.

% Rule 11. An inode whose nlink is 0 has an orphan_item.
% Source: thesis, table 5.2; btrfs check, I_ERR_NO_ORPHAN_ITEM; btrfs_orphan_add. The reverse does
% not hold: an inode with names is an orphan while fs-verity is being enabled, and was one during
% a truncate before Linux 4.18.
% For the user: a deleted file keeps its space forever.
violation(11, TREE, k(INODE, inode_item, 0)) :-
  new(TREE, k(INODE, inode_item, 0), nlink, 0),
  file_tree(TREE),
  not(query(TREE, k(-5, orphan_item, INODE))).

violation(11, TREE, k(INODE, inode_item, 0)) :-
  delete(TREE, k(-5, orphan_item, INODE)),
  file_tree(TREE),
  query(TREE, k(INODE, inode_item, 0), nlink, 0).

% Rule 12. Items of an inode exist only with its inode_item: when an inode is removed, none of its
% items remains, and an item is only added to an inode that exists.
% Source: thesis, figure 3.11 and table 5.2 (12a, 12b). An orphan item may outlive its inode:
% btrfs_evict_inode() removes it in a transaction of its own, and btrfs_orphan_cleanup() when it
% finds no inode.
% For the user: parts of a file are left over, or a file has parts but no inode: it cannot be
% opened, and its space is never freed.
violation(12, TREE, k(INODE, KIND, OFFSET)) :-
  delete(TREE, k(INODE, inode_item, _)),
  file_tree(TREE),
  query(TREE, k(INODE, KIND, OFFSET)).

violation(12, TREE, k(INODE, KIND, OFFSET)) :-
  add(TREE, k(INODE, KIND, OFFSET)),
  file_tree(TREE),
  inode_number(INODE),
  not(new(TREE, k(INODE, inode_item, 0))),
  not(query(TREE, k(INODE, inode_item, 0))).

% Rule 14. The nlink of an inode is the number of its names: it changes by the names added less
% the names removed.
% Source: thesis, table 5.1, checked incrementally instead of by counting all names. With extended
% inode references, the names that do not fit into the inode_ref of a directory are in
% inode_extref, and count alike.
% For the user: if nlink is too low, deleting one name frees a file that others still name; if it
% is too high, a deleted file keeps its space forever.
violation(14, TREE, k(INODE, inode_item, 0)) :-
  default_zero(TREE, k(INODE, inode_item, 0), nlink, OLD, NEW),
  file_tree(TREE),
  inode_number(INODE),
  names_added(TREE, INODE, ADDED),
  names_deleted(TREE, INODE, DELETED),
  NEW + DELETED =\= OLD + ADDED.

violation(14, TREE, k(INODE, inode_item, 0)) :-
  name_kind(KIND),
  ( add(TREE, k(INODE, KIND, _)) ; delete(TREE, k(INODE, KIND, _)) ),
  file_tree(TREE),
  not(change(TREE, k(INODE, inode_item, 0), nlink, _, _)),
  names_added(TREE, INODE, ADDED),
  names_deleted(TREE, INODE, DELETED),
  ADDED =\= DELETED.

names_added(TREE, INODE, COUNT) :-
  count(add(TREE, k(INODE, inode_ref, _)), REFS),
  count(add(TREE, k(INODE, inode_extref, _)), EXTREFS),
  COUNT is REFS + EXTREFS.

names_deleted(TREE, INODE, COUNT) :-
  count(delete(TREE, k(INODE, inode_ref, _)), REFS),
  count(delete(TREE, k(INODE, inode_extref, _)), EXTREFS),
  COUNT is REFS + EXTREFS.

% Rule 51. Only a character or block device has an rdev other than 0.
% Source: init_special_inode, fill_inode_item.
% For the user: if the file becomes a device, the damaged field decides which device it opens.
violation(51, TREE, k(INODE, inode_item, 0)) :-
  new(TREE, k(INODE, inode_item, 0), rdev, NUMBER),
  NUMBER =\= 0,
  file_tree(TREE),
  inode_type(TREE, INODE, TYPE),
  TYPE \= s_ifchr,
  TYPE \= s_ifblk.

% Rule 52. A symbolic link has its target as inline data of the length of its size, has no other
% data, and is neither immutable nor append-only.
% Source: btrfs_symlink; btrfs check, I_ERR_ODD_INODE_FLAGS. Old kernels also stored the zero byte
% at the end of the target.
% For the user: the link leads elsewhere or nowhere.
violation(52, TREE, k(INODE, inode_item, 0)) :-
  new(TREE, k(INODE, inode_item, 0), size, SIZE),
  file_tree(TREE),
  inode_type(TREE, INODE, s_iflnk),
  not(dying(TREE, INODE)),
  not(has_target(TREE, INODE, SIZE)).

violation(52, TREE, k(INODE, extent_data, OFFSET)) :-
  new(TREE, k(INODE, extent_data, OFFSET), type, TYPE),
  TYPE \= inline,
  file_tree(TREE),
  inode_type(TREE, INODE, s_iflnk).

violation(52, TREE, k(INODE, inode_item, 0)) :-
  new(TREE, k(INODE, inode_item, 0), flags, FLAGS),
  FLAGS /\ 192 =\= 0, % BTRFS_INODE_IMMUTABLE, BTRFS_INODE_APPEND
  file_tree(TREE),
  inode_type(TREE, INODE, s_iflnk).

violation(52, TREE, k(INODE, inode_item, 0)) :-
  change(TREE, k(INODE, extent_data, 0), ram_bytes, _, _),
  file_tree(TREE),
  inode_type(TREE, INODE, s_iflnk),
  not(dying(TREE, INODE)),
  query(TREE, k(INODE, inode_item, 0), size, SIZE),
  not(has_target(TREE, INODE, SIZE)).

has_target(TREE, INODE, SIZE) :-
  query(TREE, k(INODE, extent_data, 0), type, inline),
  query(TREE, k(INODE, extent_data, 0), ram_bytes, LENGTH),
  LENGTH >= SIZE,
  LENGTH =< SIZE + 1.

% Rule 53. An inode that is protected by fs-verity has a verity_desc_item.
% Source: finish_verity, btrfs_get_verity_descriptor.
% For the user: the file cannot be opened any more.
violation(53, TREE, k(INODE, inode_item, 0)) :-
  new(TREE, k(INODE, inode_item, 0), flags, FLAGS),
  FLAGS >= 4294967296, % BTRFS_INODE_RO_VERITY, in the upper half
  file_tree(TREE),
  not(query(TREE, k(INODE, verity_desc_item, 0))).

violation(53, TREE, k(INODE, inode_item, 0)) :-
  delete(TREE, k(INODE, verity_desc_item, 0)),
  file_tree(TREE),
  query(TREE, k(INODE, inode_item, 0), flags, FLAGS),
  FLAGS >= 4294967296.

% Rule 66. No file tree has a cache of free inode numbers (object -12).
% Source: btrfs check of btrfs-progs from 6.5 on; Linux 5.11 removed the mount option inode_cache.
% For the user: a cache that no kernel uses takes space on the disk; btrfs rescue clear-ino-cache
% removes it.
violation(66, TREE, k(-12, inode_item, 0)) :-
  add(TREE, k(-12, inode_item, 0)),
  file_tree(TREE).
