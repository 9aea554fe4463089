% Inodes and what belongs to them.

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
  KIND \= inode_item,
  file_tree(TREE),
  inode_number(INODE),
  not(query(TREE, k(INODE, inode_item, 0))).

% Rule 14. The link count of an inode grows and shrinks with its names: nlink changes by the number of names that were added less those that were removed.
% Source: thesis, table 5.1, as an invariant of the change instead of a count of all names.
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
  inode_number(INODE),
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
