% Inodes and what belongs to them.

% Rule 11. An inode without a name is an orphan: where nlink is 0 there is an orphan_item that names the inode.
% Source: thesis, table 5.2; btrfs check, I_ERR_NO_ORPHAN_ITEM; btrfs_orphan_add. The reverse does not hold: an inode
% with names is an orphan while fs-verity is being enabled, and was during a truncation before Linux 4.18.
% For the user: a deleted file would keep its space for ever.
violation(11, TREE, k(INODE, inode_item, 0)) :-
  new(TREE, k(INODE, inode_item, 0), nlink, 0),
  file_tree(TREE),
  not(query(TREE, k(-5, orphan_item, INODE))).

violation(11, TREE, k(INODE, inode_item, 0)) :-
  delete(TREE, k(-5, orphan_item, INODE)),
  file_tree(TREE),
  query(TREE, k(INODE, inode_item, 0), nlink, 0).

% Rule 12. Everything that belongs to an inode has its inode: when an inode is removed nothing of it remains in its tree, and what is added belongs to an inode that is there.
% Source: thesis, figure 3.11 and table 5.2 (12a, 12b). An orphan item may outlive its inode: btrfs_evict_inode()
% removes it in a transaction of its own, and btrfs_orphan_cleanup() when it finds no inode.
% For the user: parts of a file would be left over, or a file would have its parts and not itself: it
% cannot be opened, and its space is never freed.
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

% Rule 14. The link count of an inode grows and shrinks with its names: nlink changes by the number of names that were added less those that were removed.
% Source: thesis, table 5.1, as an invariant of the change instead of a count of all names. With extended inode
% references the names that do not fit into the inode_ref of a directory stand in inode_extref, and count alike.
% For the user: with a count too low, deleting one name frees a file that others still name; with one too
% high, a deleted file keeps its space for ever.
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

% Rule 51. Only a device has a device number.
% Source: init_special_inode, fill_inode_item.
% For the user: what the kernel takes for a device would be decided by a damaged field.
violation(51, TREE, k(INODE, inode_item, 0)) :-
  new(TREE, k(INODE, inode_item, 0), rdev, NUMBER),
  NUMBER =\= 0,
  file_tree(TREE),
  inode_type(TREE, INODE, TYPE),
  TYPE \= s_ifchr,
  TYPE \= s_ifblk.

% Rule 52. A symbolic link has its target as inline data of the length of its size, no other data, and is neither immutable nor append-only.
% Source: btrfs_symlink; btrfs check, I_ERR_ODD_INODE_FLAGS. Old kernels stored the zero at the end of the target as well.
% For the user: the link would lead elsewhere or nowhere.
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

has_target(TREE, INODE, SIZE) :-
  query(TREE, k(INODE, extent_data, 0), type, inline),
  query(TREE, k(INODE, extent_data, 0), ram_bytes, LENGTH),
  LENGTH >= SIZE,
  LENGTH =< SIZE + 1.

% Rule 53. An inode that is protected by fs-verity has its descriptor.
% Source: finish_verity, btrfs_get_verity_descriptor.
% For the user: the file could not be opened any more.
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

% Rule 66. No tree of files has a cache of free inode numbers.
% Source: btrfs check of btrfs-progs from 6.5 on; Linux 5.11 removed the mount option inode_cache.
% For the user: a part of the disk would be taken by what no kernel uses; btrfs rescue clear-ino-cache removes it.
% Severity: warning
violation(66, TREE, k(-12, inode_item, 0)) :-
  add(TREE, k(-12, inode_item, 0)),
  file_tree(TREE).
