% Rules of the thesis that fsward follows (Brunch: Robust File System Consistency Checking at Runtime),
% as figures 3.2, 3.11 and 4.2 print them. Line numbers and elided parts are the only things left out.

% Rule 6. If a new extent item is added, the extent must not overlap the previous or next extents.
% Source: thesis, figure 3.2.
% For the user: two files would share the same disk space, and writing one would destroy the other.

% the btrfs key for an extent is [start, extent_item, size]
violation(6, TREE_ID, k(EXTENT, extent_item, SIZE)) :-
  add(TREE_ID, k(EXTENT, extent_item, SIZE)),
  previous(TREE_ID, k(EXTENT, extent_item, SIZE),
    k(EXTENT_PREV, extent_item, SIZE_PREV)),
  EXTENT < EXTENT_PREV + SIZE_PREV.

% the underscore '_' is an "don't care" or wildcard variable
violation(6, TREE_ID, k(EXTENT, extent_item, SIZE)) :-
  add(TREE_ID, k(EXTENT, extent_item, SIZE)),
  next(TREE_ID, k(EXTENT, extent_item, SIZE),
    k(EXTENT_NEXT, extent_item, _)),
  EXTENT_NEXT < EXTENT + SIZE.

% Rule 12. If an inode is removed, no objects with that inode number remain in the tree; if an item is added, the corresponding inode exists.
% Source: thesis, figure 3.11.
% For the user: a file would have left-over parts, or parts without the file.
violation(12, TREE_ID, k(INODE_NUMBER, TYPE, OFFSET)) :-
  delete(TREE_ID, k(INODE_NUMBER, inode_item, _)),
  file_tree(TREE_ID),
  query(TREE_ID, k(INODE_NUMBER, TYPE, OFFSET)).

violation(12, TREE_ID, k(INODE_NUMBER, TYPE, OFFSET)) :-
  add(TREE_ID, k(INODE_NUMBER, TYPE, OFFSET)),
  file_tree(TREE_ID), TYPE \= inode_item,
  not(query(TREE_ID, k(INODE_NUMBER, inode_item, 0))).

% Rule 17. For every dir_index, dir_item and inode_ref triplet, names and index match, and the dir_item's offset is the crc32c hash of the name.
% Source: thesis, figure 4.2.
% For the user: a file would have no name, or a name would lead nowhere.
property(17, TREE_ID, PARENT_ID, CHILD_ID) :-
  query(TREE_ID, k(PARENT_ID, dir_item, HASH), location,
        k(CHILD_ID, inode_item, 0)),
  query(TREE_ID, k(PARENT_ID, dir_item, HASH), name_len, LEN_1),
  query(TREE_ID, k(PARENT_ID, dir_item, HASH), name, NAME_1),
  query(TREE_ID, k(PARENT_ID, dir_index, INDEX), location,
        k(CHILD_ID, inode_item, 0)),
  query(TREE_ID, k(PARENT_ID, dir_index, INDEX), name_len, LEN_2),
  query(TREE_ID, k(PARENT_ID, dir_index, INDEX), name, NAME_2),
  query(TREE_ID, k(CHILD_ID, inode_ref, a(PARENT_ID, INDEX)),
        name_len, LEN_3),
  query(TREE_ID, k(CHILD_ID, inode_ref, a(PARENT_ID, INDEX)),
        name, NAME_3),
  LEN_1 = LEN_2, LEN_2 = LEN_3,
  NAME_1 = NAME_2, NAME_2 = NAME_3, crc32c(NAME_1, HASH).

violation(17, TREE_ID, k(OBJECTID, TYPE, OFFSET)) :-
  ( TYPE = dir_index ; TYPE = dir_item ),
  new(TREE_ID, k(OBJECTID, TYPE, OFFSET), location,
      k(CHILD_ID, inode_item, 0)),
  verify(property(17, TREE_ID, OBJECTID, CHILD_ID)).

violation(17, TREE_ID, k(OBJECTID, inode_ref, a(PARENT_ID, INDEX))) :-
  new(TREE_ID, k(OBJECTID, inode_ref, a(PARENT_ID, INDEX))),
  verify(property(17, TREE_ID, PARENT_ID, OBJECTID)).

% The trees that hold files: the file system tree and those of subvolumes and snapshots
% (BTRFS_FS_TREE_OBJECTID, BTRFS_FIRST_FREE_OBJECTID in linux/btrfs_tree.h).
file_tree(5).
file_tree(TREE_ID) :- TREE_ID >= 256.
