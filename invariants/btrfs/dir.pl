% Directories and their entries.

% Rule 13. Only a directory has dir_item and dir_index items: an inode that becomes something else
% has none, and an entry is only added to a directory.
% Source: thesis, table 5.1.
% For the user: a directory has turned into a file, and nothing in it can be reached.
violation(13, TREE, k(INODE, inode_item, 0)) :-
  % Any other type had no entries. The clause below sees entries that are added.
  change(TREE, k(INODE, inode_item, 0), f(mode, s_ifmt), s_ifdir, TYPE),
  TYPE \== null,
  file_tree(TREE),
  has_entry(TREE, INODE).

violation(13, TREE, k(DIR, KIND, OFFSET)) :-
  entry_kind(KIND),
  add(TREE, k(DIR, KIND, OFFSET)),
  file_tree(TREE),
  verify(directory(TREE, DIR)),
  query(TREE, k(DIR, inode_item, 0)).

directory(TREE, DIR) :- query(TREE, k(DIR, inode_item, 0), f(mode, s_ifmt), s_ifdir).

% Has one solution, however many entries there are.
has_entry(TREE, INODE) :- \+ \+ ( entry_kind(KIND), query(TREE, k(INODE, KIND, _)) ).

% Rule 15. The size of a directory is the sum of the name lengths in its dir_items and
% dir_indexes; both kinds have the same sum; its nbytes is 0.
% Source: thesis, table 5.1 (15a, 15b), checked incrementally; btrfs check, I_ERR_DIR_ISIZE_WRONG.
% A name counts all its bytes, however long it is; the items of fs-verity do not count. mkfs
% writes nodesize as the nbytes of a root directory. A directory without a name is exempt, as its
% entries go with it.
% For the user: a directory looks empty although it is not, or cannot be removed although it is
% empty.
violation(15, TREE, k(DIR, inode_item, 0)) :-
  change(TREE, k(DIR, inode_item, 0), size, _, _),
  file_tree(TREE),
  inode_type(TREE, DIR, s_ifdir),
  verify(dir_size_agrees(TREE, DIR)),
  not(dying(TREE, DIR)).

violation(15, TREE, k(DIR, inode_item, 0)) :-
  entry_kind(KIND),
  change(TREE, k(DIR, KIND, _), name_len, _, _),
  file_tree(TREE),
  verify(dir_size_agrees(TREE, DIR)),
  query(TREE, k(DIR, inode_item, 0)),
  not(dying(TREE, DIR)).

violation(15, TREE, k(DIR, inode_item, 0)) :-
  new(TREE, k(DIR, inode_item, 0), nbytes, NBYTES),
  NBYTES =\= 0,
  file_tree(TREE),
  query(TREE, k(DIR, inode_item, 0), f(mode, s_ifmt), s_ifdir),
  not(made_by_mkfs(DIR, NBYTES)).

dir_size_agrees(TREE, DIR) :-
  sum(N, new(TREE, k(DIR, dir_item, _), name_len, N), ITEMS),
  sum(N, old(TREE, k(DIR, dir_item, _), name_len, N), ITEMS_GONE),
  sum(N, new(TREE, k(DIR, dir_index, _), name_len, N), INDEXES),
  sum(N, old(TREE, k(DIR, dir_index, _), name_len, N), INDEXES_GONE),
  ITEMS + INDEXES_GONE =:= INDEXES + ITEMS_GONE,
  size_change(TREE, DIR, OLD, NEW),
  NEW + ITEMS_GONE + INDEXES_GONE =:= OLD + ITEMS + INDEXES.

size_change(TREE, INODE, OLD, NEW) :-
  ( default_zero(TREE, k(INODE, inode_item, 0), size, BEFORE, AFTER) ->
      OLD = BEFORE,
      NEW = AFTER
  ; OLD = 0,
    NEW = 0 ).

made_by_mkfs(256, NBYTES) :- query(0, k(0, super_block, 0), nodesize, NBYTES).

% Rule 16. The type in a directory entry is the type of the inode that it leads to; an entry of a
% subvolume has the type of a directory.
% Source: thesis, figure 3.6 and table 5.1.
% For the user: a file is taken for a directory or a device, and opening it fails or does harm.
% Cost: the names of one hash are asked about once, together. An index of their types answers, but
% for subvolumes, whose type is the first that is found.
violation(16, TREE, k(DIR, KIND, OFFSET)) :-
  entry_kind(KIND),
  new(TREE, k(DIR, KIND, OFFSET), location, k(ID, WHAT, _)),
  file_tree(TREE),
  target_type(WHAT, TREE, ID, TYPE),
  not(new(TREE, k(DIR, KIND, OFFSET), type, TYPE)),
  not(query(TREE, k(DIR, KIND, OFFSET), type, TYPE)).

violation(16, TREE, k(DIR, KIND, OFFSET)) :-
  entry_kind(KIND),
  change(TREE, k(DIR, KIND, OFFSET), type, OLD, NEW),
  OLD \== null,
  NEW \== null,
  file_tree(TREE),
  verify(types_agree(TREE, DIR, KIND, OFFSET)).

violation(16, TREE, k(INODE, inode_item, 0)) :-
  change(TREE, k(INODE, inode_item, 0), f(mode, s_ifmt), OLD, TYPE),
  OLD \== null, % the entries of a new inode are new
  TYPE \== null,
  file_tree(TREE),
  name_kind(KIND),
  query(TREE, k(INODE, KIND, a(DIR, INDEX))),
  query(TREE, k(DIR, dir_index, INDEX), type, ENTRY_TYPE),
  ENTRY_TYPE \= TYPE.

types_agree(TREE, DIR, KIND, OFFSET) :-
  \+ ( query(TREE, k(DIR, KIND, OFFSET), location, k(ID, WHAT, _)),
       target_type(WHAT, TREE, ID, TYPE),
       \+ query(TREE, k(DIR, KIND, OFFSET), type, TYPE) ).

target_type(inode_item, TREE, INODE, TYPE) :- inode_type(TREE, INODE, TYPE).
target_type(root_item, _, _, s_ifdir).

% Rule 17. The three records of a name agree: dir_item, dir_index and inode_ref (or inode_extref)
% have the same name, inode and index, and the key of dir_item has the hash of the name.
% Source: thesis, figure 4.2 and table 5.1: the same property, joined from the inode's name
% through its hash, so that the cost does not grow with the size of the directory. The link of a
% record is its inode together with its name. Two names with one hash share a key, and the link
% keeps the record of one from standing in for the other's.
% For the user: the name is listed but cannot be opened, or can be opened but not deleted.
violation(17, TREE, k(DIR, dir_index, INDEX)) :-
  new(TREE, k(DIR, dir_index, INDEX)),
  file_tree(TREE),
  query(TREE, k(DIR, dir_index, INDEX), link, k(INODE, inode_item, _)),
  verify(name_agrees(TREE, DIR, INDEX, INODE)),
  not(dying(TREE, DIR)).

violation(17, TREE, k(DIR, dir_item, HASH)) :-
  new(TREE, k(DIR, dir_item, HASH)),
  file_tree(TREE),
  verify(items_agree(TREE, DIR, HASH)),
  not(dying(TREE, DIR)).

violation(17, TREE, k(INODE, KIND, a(DIR, INDEX))) :-
  name_kind(KIND),
  new(TREE, k(INODE, KIND, a(DIR, INDEX))),
  file_tree(TREE),
  not(root_parent(INODE, DIR, INDEX)),
  verify(name_agrees(TREE, DIR, INDEX, INODE)).

% The directory entries of a name agree with the inode's own record of it.
name_agrees(TREE, DIR, INDEX, INODE) :-
  query(TREE, k(DIR, dir_index, INDEX), name, NAME),
  query(TREE, k(DIR, dir_index, INDEX), link, k(INODE, inode_item, WHICH)),
  inode_name(TREE, INODE, DIR, INDEX, NAME),
  crc32c(NAME, HASH),
  query(TREE, k(DIR, dir_item, HASH), link, k(INODE, inode_item, WHICH)).

% Each entry under HASH is of a name that its inode has in this directory. There may be as many as
% fit into a leaf, so that the rule asks once for all of them.
items_agree(TREE, DIR, HASH) :- items_agree(TREE, DIR, HASH, _).

% The same for the entries that lead to INODE.
items_agree(TREE, DIR, HASH, INODE) :-
  \+ ( query(TREE, k(DIR, dir_item, HASH), link, k(INODE, inode_item, WHICH)),
       \+ item_agrees(TREE, DIR, HASH, INODE, WHICH) ).

item_agrees(TREE, DIR, HASH, INODE, WHICH) :-
  query(TREE, k(DIR, dir_item, HASH), link, k(INODE, inode_item, WHICH)),
  query(TREE, k(DIR, dir_item, HASH), name, NAME),
  crc32c(NAME, HASH),
  inode_name(TREE, INODE, DIR, INDEX, NAME),
  query(TREE, k(DIR, dir_index, INDEX), link, k(INODE, inode_item, WHICH)).

% Rule 18. The three records of a name are removed together: if one is removed, none of them
% remains.
% Source: thesis, table 5.2. Entries of a directory that is itself removed can stay until its
% items go, one transaction later: by then Linux has forgotten the removals that it had delayed
% (btrfs_evict_inode, btrfs_kill_delayed_inode_items).
% For the user: a deleted name is still listed, or cannot be used again.
violation(18, TREE, k(INODE, KIND, a(DIR, INDEX))) :-
  change(TREE, k(DIR, dir_index, INDEX), location, k(INODE, inode_item, _), null),
  file_tree(TREE),
  change(TREE, k(DIR, dir_index, INDEX), name, NAME, null),
  name_kind(KIND),
  query(TREE, k(INODE, KIND, a(DIR, INDEX)), name, NAME).

violation(18, TREE, k(DIR, dir_index, INDEX)) :-
  name_kind(KIND),
  delete(TREE, k(INODE, KIND, a(DIR, INDEX))),
  file_tree(TREE),
  query(TREE, k(DIR, dir_index, INDEX), link, k(INODE, inode_item, _)),
  not(inode_name(TREE, INODE, DIR, INDEX, _)),
  not(query(TREE, k(DIR, inode_item, 0), nlink, 0)).

violation(18, TREE, k(DIR, dir_item, HASH)) :-
  name_kind(KIND),
  change(TREE, k(INODE, KIND, a(DIR, _)), name, NAME, null),
  file_tree(TREE),
  crc32c(NAME, HASH),
  query(TREE, k(DIR, dir_item, HASH), name, NAME),
  verify(items_agree(TREE, DIR, HASH, INODE)).

violation(18, TREE, k(INODE, KIND, a(DIR, INDEX))) :-
  change(TREE, k(DIR, dir_item, HASH), location, k(INODE, inode_item, _), null),
  file_tree(TREE),
  change(TREE, k(DIR, dir_item, HASH), name, NAME, null),
  name_kind(KIND),
  query(TREE, k(INODE, KIND, a(DIR, INDEX)), name, NAME),
  verify(name_agrees(TREE, DIR, INDEX, INODE)).

% Rule 54. The index of a directory entry is 2 or more, and its name is neither '.' nor '..'.
% Source: BTRFS_DIR_START_INDEX; is_dot_dotdot.
% For the user: the entry cannot be opened, and a program that walks the tree never ends.
violation(54, TREE, k(DIR, dir_index, INDEX)) :-
  add(TREE, k(DIR, dir_index, INDEX)),
  INDEX < 2,
  file_tree(TREE).

violation(54, TREE, k(DIR, dir_index, INDEX)) :-
  dot(NAME),
  new(TREE, k(DIR, dir_index, INDEX), name, NAME),
  file_tree(TREE).

dot('.').
dot('..').

% Rule 98. The index of a name in its directory is below 2^63, in a log as well.
% Source: fs/btrfs/inode.c, btrfs_set_inode_index(), which counts up; btrfs_real_readdir() keeps
% its position in a signed number.
% For the user: listing the directory never ends; if the name is in a log, this happens after a
% crash.
violation(98, TREE, k(INODE, KIND, a(DIR, INDEX))) :-
  name_kind(KIND),
  add(TREE, k(INODE, KIND, a(DIR, INDEX))),
  INDEX >= 1 << 63.

violation(98, TREE, k(DIR, dir_index, INDEX)) :-
  add(TREE, k(DIR, dir_index, INDEX)),
  INDEX >= 1 << 63.
