% Directories and their entries.

% Rule 13. Only a directory has entries: an inode that is or becomes something else has no dir_item and no dir_index, and an entry is only added to a directory.
% Source: thesis, table 5.1.
% For the user: a directory would have turned into a file and all that is in it could not be reached.
violation(13, TREE, k(INODE, inode_item, 0)) :-
  new(TREE, k(INODE, inode_item, 0), f(mode, s_ifmt), TYPE),
  TYPE \= s_ifdir,
  file_tree(TREE),
  has_entry(TREE, INODE).

violation(13, TREE, k(DIR, KIND, OFFSET)) :-
  entry_kind(KIND),
  add(TREE, k(DIR, KIND, OFFSET)),
  file_tree(TREE),
  query(TREE, k(DIR, inode_item, 0), f(mode, s_ifmt), TYPE),
  TYPE \= s_ifdir.

% Holds once, however many entries there are.
has_entry(TREE, INODE) :- \+ \+ ( entry_kind(KIND), query(TREE, k(INODE, KIND, _)) ).

% Rule 16. A directory entry says of what type its inode is: when either changes, the other agrees.
% Source: thesis, figure 3.6 and table 5.1. Entries of subvolumes lead to a root_item and have no inode here.
% For the user: a file would be taken for a directory or a device, and opening it would fail or do harm.
violation(16, TREE, k(DIR, KIND, OFFSET)) :-
  entry_kind(KIND),
  new(TREE, k(DIR, KIND, OFFSET)),
  file_tree(TREE),
  query(TREE, k(DIR, KIND, OFFSET), location, k(INODE, inode_item, 0)),
  query(TREE, k(INODE, inode_item, 0), f(mode, s_ifmt), TYPE),
  not(query(TREE, k(DIR, KIND, OFFSET), type, TYPE)).

violation(16, TREE, k(INODE, inode_item, 0)) :-
  new(TREE, k(INODE, inode_item, 0), f(mode, s_ifmt), TYPE),
  file_tree(TREE),
  name_kind(KIND),
  query(TREE, k(INODE, KIND, a(DIR, INDEX))),
  query(TREE, k(DIR, dir_index, INDEX), type, ENTRY_TYPE),
  ENTRY_TYPE \= TYPE.

% Rule 17. The three records of a name agree: dir_item, dir_index and inode_ref (or inode_extref) have the same name and index, and dir_item stands under the hash of the name.
% Source: thesis, figure 4.2 and table 5.1: the same property, joined from the inode's name through its hash,
% so that the cost does not grow with the size of the directory.
% For the user: the name would be listed and could not be opened, or could be opened and not be deleted.
violation(17, TREE, k(DIR, dir_index, INDEX)) :-
  new(TREE, k(DIR, dir_index, INDEX)),
  file_tree(TREE),
  query(TREE, k(DIR, dir_index, INDEX), location, k(INODE, inode_item, 0)),
  not(removed(TREE, DIR)),
  verify(name_agrees(TREE, DIR, INDEX, INODE)).

violation(17, TREE, k(DIR, dir_item, HASH)) :-
  new(TREE, k(DIR, dir_item, HASH)),
  file_tree(TREE),
  query(TREE, k(DIR, dir_item, HASH), location, k(INODE, inode_item, 0)),
  not(removed(TREE, DIR)),
  not(entry_has_name(TREE, DIR, HASH, INODE)).

violation(17, TREE, k(INODE, KIND, a(DIR, INDEX))) :-
  name_kind(KIND),
  new(TREE, k(INODE, KIND, a(DIR, INDEX))),
  file_tree(TREE),
  not(root_parent(INODE, DIR, INDEX)),
  verify(name_agrees(TREE, DIR, INDEX, INODE)).

% A directory that has no name any more: it is an orphan, and what is left in it goes with it.
removed(TREE, DIR) :- query(TREE, k(DIR, inode_item, 0), nlink, 0).

% The entries of a name agree with the inode's own record of it.
name_agrees(TREE, DIR, INDEX, INODE) :-
  inode_name(TREE, INODE, DIR, INDEX, NAME),
  crc32c(NAME, HASH),
  entry_of(TREE, k(DIR, dir_index, INDEX), INODE, NAME),
  entry_of(TREE, k(DIR, dir_item, HASH), INODE, NAME).

% One of the entries under a hash is of this inode, by a name that the inode has in this directory.
entry_has_name(TREE, DIR, HASH, INODE) :-
  query(TREE, k(DIR, dir_item, HASH), name, NAME),
  crc32c(NAME, HASH),
  ( named_now(TREE, INODE, DIR, INDEX, NAME) ; inode_name(TREE, INODE, DIR, INDEX, NAME) ),
  name_agrees(TREE, DIR, INDEX, INODE).

% The index of a name that is given in this transaction, as nearly all are: without going through the other
% names of an inode that has thousands of them.
named_now(TREE, INODE, DIR, INDEX, NAME) :-
  name_kind(KIND),
  change(TREE, k(INODE, KIND, a(DIR, INDEX)), name, _, NAME).

entry_of(TREE, ENTRY, INODE, NAME) :-
  query(TREE, ENTRY, name, NAME),
  query(TREE, ENTRY, location, k(INODE, inode_item, 0)).
