% Helpers about trees and inodes, for the other rules of Btrfs.

% A file tree, which has files and directories: the top level, or a subvolume (is_fstree in the
% kernel).
file_tree(5).
file_tree(TREE) :- TREE >= 256, TREE =< 18446744073709551359.

% The log, -6, which has items like those of file trees (BTRFS_TREE_LOG_OBJECTID).
log_tree(TREE) :- TREE =:= 18446744073709551610.

% The numbers that inodes have (BTRFS_FIRST_FREE_OBJECTID to BTRFS_LAST_FREE_OBJECTID). Other
% object ids in a file tree are not files: -5 holds orphans, -12 the deprecated inode cache.
inode_number(ID) :- ID >= 256, ID =< 18446744073709551359.

% The inode has the name NAME in the directory PARENT under INDEX. Names that do not fit into an
% inode_ref are in an inode_extref.
inode_name(TREE, INODE, PARENT, INDEX, NAME) :-
  query(TREE, k(INODE, inode_ref, a(PARENT, INDEX)), name, NAME).
inode_name(TREE, INODE, PARENT, INDEX, NAME) :-
  query(TREE, k(INODE, inode_extref, a(PARENT, INDEX)), name, NAME).

name_kind(inode_ref).
name_kind(inode_extref).

entry_kind(dir_item).
entry_kind(dir_index).

% The root directory of a tree is its own parent, with the name '..' and without a directory
% entry.
root_parent(INODE, INODE, 0).

% An inode without names. It is removed together with its parts over several transactions, in
% which they do not agree.
dying(TREE, INODE) :- query(TREE, k(INODE, inode_item, 0), nlink, 0).

% A tree that can be reached: it has a root_item and is not being dropped.
live_tree(TREE) :- query(1, k(TREE, root_item, _), refs, REFS), REFS > 0.

% The type of an inode. Almost all inodes that rules ask about are new, and the type of a new
% inode comes from the records of the transaction.
inode_type(TREE, INODE, TYPE) :-
  ( new(TREE, k(INODE, inode_item, 0), f(mode, s_ifmt), NOW) -> TYPE = NOW
  ; query(TREE, k(INODE, inode_item, 0), f(mode, s_ifmt), TYPE) ).

% A mounted file system made the commit, and not a program on the unmounted disk: such a program
% leaves uuid_tree_generation behind (update_super_roots). For a moment after the first mount that
% follows, this is not known.
by_linux :- uuids_complete.
