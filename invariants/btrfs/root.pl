% Subvolumes and their root items. The link of a root_ref is its subvolume together with its name,
% like the link of the directory entry that leads there.

% Rule 2. The refs of a subvolume's root_item is the number of its names: it changes by the
% root_backrefs added less those removed.
% Source: thesis, table 5.2, checked incrementally; rule 4 ties each root_backref to its directory
% entry.
% For the user: a subvolume in use is dropped, or a deleted one keeps its space.
violation(2, 1, k(SUBVOL, root_item, OFFSET)) :-
  change(1, k(SUBVOL, root_item, OFFSET), refs, _, _),
  subvolume(SUBVOL),
  verify(refs_agree(SUBVOL)).

violation(2, 1, k(SUBVOL, root_backref, PARENT)) :-
  ( add(1, k(SUBVOL, root_backref, PARENT)) ; delete(1, k(SUBVOL, root_backref, PARENT)) ),
  verify(refs_agree(SUBVOL)).

refs_agree(SUBVOL) :-
  count(add(1, k(SUBVOL, root_backref, _)), ADDED),
  count(delete(1, k(SUBVOL, root_backref, _)), GONE),
  refs_change(SUBVOL, OLD, NEW),
  NEW + GONE =:= OLD + ADDED.

refs_change(SUBVOL, OLD, NEW) :-
  ( default_zero(1, k(SUBVOL, root_item, _), refs, BEFORE, AFTER) ->
      OLD = BEFORE,
      NEW = AFTER
  ; OLD = 0,
    NEW = 0 ).

subvolume(TREE) :- TREE >= 256, TREE =< 18446744073709551359.

% Rule 3. A subvolume whose refs is 0 has an orphan_item.
% Source: thesis, table 5.2; btrfs_find_orphan_roots.
% For the user: a deleted subvolume keeps its space forever.
violation(3, 1, k(SUBVOL, root_item, OFFSET)) :-
  new(1, k(SUBVOL, root_item, OFFSET), refs, 0),
  subvolume(SUBVOL),
  not(query(1, k(-5, orphan_item, SUBVOL))).

violation(3, 1, k(SUBVOL, root_item, OFFSET)) :-
  delete(1, k(-5, orphan_item, SUBVOL)),
  query(1, k(SUBVOL, root_item, OFFSET), refs, 0).

% Rule 4. A subvolume in use has a name in its parent: root_ref, root_backref, dir_index and
% dir_item exist together and agree on it.
% Source: thesis, table 5.2; btrfs check, check_root_refs. A snapshot has entries of the
% subvolumes in its source, to which no root_ref belongs: only an entry that is added to an
% existing tree must have one.
% For the user: a subvolume or snapshot cannot be found, or cannot be deleted.
violation(4, 1, k(SUBVOL, root_item, OFFSET)) :-
  change(1, k(SUBVOL, root_item, OFFSET), refs, _, REFS),
  subvolume(SUBVOL),
  REFS \== null,
  REFS > 0,
  not(query(1, k(SUBVOL, root_backref, _))).

violation(4, 1, k(PARENT, root_ref, SUBVOL)) :-
  new(1, k(PARENT, root_ref, SUBVOL)),
  verify(subvolume_named(PARENT, SUBVOL)).

violation(4, 1, k(SUBVOL, root_backref, PARENT)) :-
  new(1, k(SUBVOL, root_backref, PARENT)),
  verify(subvolume_named(PARENT, SUBVOL)).

violation(4, 1, k(SUBVOL, root_backref, PARENT)) :-
  delete(1, k(PARENT, root_ref, SUBVOL)),
  query(1, k(SUBVOL, root_backref, PARENT)).

violation(4, 1, k(PARENT, root_ref, SUBVOL)) :-
  delete(1, k(SUBVOL, root_backref, PARENT)),
  query(1, k(PARENT, root_ref, SUBVOL)).

violation(4, TREE, k(DIR, KIND, OFFSET)) :-
  entry_kind(KIND),
  new(TREE, k(DIR, KIND, OFFSET), location, k(SUBVOL, root_item, _)),
  file_tree(TREE),
  not(add(1, k(TREE, root_item, _))),
  not(entry_of_subvolume(TREE, DIR, KIND, OFFSET, SUBVOL)).

violation(4, TREE, k(DIR, KIND, OFFSET)) :-
  entry_kind(KIND),
  update(TREE, k(DIR, KIND, OFFSET)),
  query(TREE, k(DIR, KIND, OFFSET), link, k(SUBVOL, root_item, _)),
  query(1, k(TREE, root_ref, SUBVOL), dirid, DIR),
  verify(subvolume_named(TREE, SUBVOL)).

violation(4, 1, k(TREE, root_ref, SUBVOL)) :-
  entry_kind(KIND),
  change(TREE, k(DIR, KIND, _), location, k(SUBVOL, root_item, _), null),
  query(1, k(TREE, root_ref, SUBVOL), dirid, DIR),
  verify(subvolume_named(TREE, SUBVOL)).

subvolume_named(PARENT, SUBVOL) :-
  live_tree(SUBVOL),
  query(1, k(PARENT, root_ref, SUBVOL), link, LINK),
  query(1, k(SUBVOL, root_backref, PARENT), link, LINK),
  query(1, k(PARENT, root_ref, SUBVOL), dirid, DIR),
  query(1, k(SUBVOL, root_backref, PARENT), dirid, DIR),
  query(1, k(PARENT, root_ref, SUBVOL), sequence, INDEX),
  query(1, k(SUBVOL, root_backref, PARENT), sequence, INDEX),
  query(1, k(PARENT, root_ref, SUBVOL), name, NAME),
  crc32c(NAME, HASH),
  query(PARENT, k(DIR, dir_index, INDEX), link, LINK),
  query(PARENT, k(DIR, dir_item, HASH), link, LINK).

% The entry is the one that the root_ref names.
entry_of_subvolume(TREE, DIR, dir_index, INDEX, SUBVOL) :-
  query(1, k(TREE, root_ref, SUBVOL), dirid, DIR),
  query(1, k(TREE, root_ref, SUBVOL), sequence, INDEX).
entry_of_subvolume(TREE, DIR, dir_item, HASH, SUBVOL) :-
  query(1, k(TREE, root_ref, SUBVOL), dirid, DIR),
  query(1, k(TREE, root_ref, SUBVOL), name, NAME),
  crc32c(NAME, HASH).

% Rule 56. A file tree in use has a root directory, inode 256, and its root_dirid is 256.
% Source: btrfs check, check_root_dir; BTRFS_FIRST_FREE_OBJECTID.
% For the user: the file system or subvolume cannot be mounted.
violation(56, 1, k(TREE, root_item, OFFSET)) :-
  new(1, k(TREE, root_item, OFFSET), root_dirid, DIR),
  file_tree(TREE),
  live_tree(TREE),
  not(DIR =:= 256, query(TREE, k(256, inode_item, 0), f(mode, s_ifmt), s_ifdir)).

violation(56, TREE, k(256, inode_item, 0)) :-
  delete(TREE, k(256, inode_item, 0)),
  live_tree(TREE).

% Rule 57. Only a subvolume whose refs is 0 has a drop_progress.
% Source: btrfs_drop_snapshot.
% For the user: a part of a subvolume that is in use is missing.
violation(57, 1, k(SUBVOL, root_item, OFFSET)) :-
  new(1, k(SUBVOL, root_item, OFFSET), drop_progress, k(ID, _, _)),
  ID =\= 0,
  subvolume(SUBVOL),
  query(1, k(SUBVOL, root_item, OFFSET), refs, REFS),
  REFS > 0.

% Rule 58. The ctransid, otransid, rtransid and last_snapshot of a root_item are at most the
% superblock's generation.
% Source: btrfs_update_root_times, create_subvol, record_root_in_trans. stransid belongs to
% another file system.
% For the user: incremental send and the deletion of unused extents use a wrong age.
violation(58, 1, k(TREE, root_item, OFFSET)) :-
  transid_field(FIELD),
  new(1, k(TREE, root_item, OFFSET), FIELD, TRANSID),
  file_tree(TREE),
  query(0, k(0, super_block, 0), generation, GENERATION),
  TRANSID > GENERATION.

transid_field(ctransid).
transid_field(otransid).
transid_field(rtransid).
transid_field(last_snapshot).

% Rule 59. The entry 'default' of the root tree leads to a subvolume that exists and is not being
% dropped.
% Source: get_default_subvol_objectid; btrfs_ioctl_default_subvol, may_destroy_subvol.
% For the user: the file system cannot be mounted without naming a subvolume.
violation(59, 1, k(6, dir_item, HASH)) :-
  new(1, k(6, dir_item, HASH), location, k(TREE, _, _)),
  not(live_tree(TREE)).

violation(59, 1, k(6, dir_item, HASH)) :-
  new(1, k(TREE, root_item, _), refs, 0),
  query(1, k(6, dir_item, HASH), link, k(TREE, root_item, _)).

% Rule 60. The version 1 free space cache of a block group is a regular file of the root tree with
% mode 0600.
% Source: btrfs check, check_repair_free_space_inode; __create_free_space_inode.
% For the user: the free space has to be searched for again, or cannot be cached at all.
violation(60, 1, k(-11, free_space_header, START)) :-
  new(1, k(-11, free_space_header, START), location, k(INODE, _, _)),
  not(query(1, k(INODE, inode_item, 0), f(mode, s_ifmt), s_ifreg)).

violation(60, 1, k(INODE, inode_item, 0)) :-
  new(1, k(INODE, inode_item, 0), f(mode, s_ifmt), TYPE),
  inode_number(INODE),
  TYPE \= s_ifreg.

violation(60, 1, k(INODE, inode_item, 0)) :-
  new(1, k(INODE, inode_item, 0), f(mode, perm), MODE),
  inode_number(INODE),
  MODE =\= 384.
