% Back references: an extent says who uses it.

% Rule 5. Each extent_data whose disk_bytenr is not 0 has an extent_item at disk_bytenr with the
% length disk_num_bytes. An extent in a log gets its extent_item when the log is replayed (rule
% 93).
% Source: thesis, table 5.1; btrfs check, "ref mismatch" and "backpointer mismatch".
% For the user: the disk space of the file counts as free and will be given to another file.
violation(5, TREE, k(INODE, extent_data, OFFSET)) :-
  new(TREE, k(INODE, extent_data, OFFSET), disk_num_bytes, LENGTH),
  query(TREE, k(INODE, extent_data, OFFSET), disk_bytenr, EXTENT),
  EXTENT =\= 0,
  not(log_tree(TREE)),
  not(query(2, k(EXTENT, extent_item, LENGTH))).

violation(5, TREE, k(INODE, extent_data, OFFSET)) :-
  new(TREE, k(INODE, extent_data, OFFSET), disk_bytenr, EXTENT),
  EXTENT =\= 0,
  not(log_tree(TREE)),
  query(TREE, k(INODE, extent_data, OFFSET), disk_num_bytes, LENGTH),
  not(query(2, k(EXTENT, extent_item, LENGTH))).

% Rule 7. The count of an extent_data_ref is the number of extent_data items that use the extent:
% it changes by those added less those removed.
% Source: thesis, table 5.1, checked incrementally. A leaf that two trees share counts once, for the
% tree that owns the leaf; the changes of that tree explain the count. Where they do not, the rule
% counts the file extents.
% For the user: if count is too low, deleting one file frees space that another file still uses;
% if it is too high, the space is never freed.
violation(7, 2, k(EXTENT, extent_data_ref, HASH)) :-
  change(2, k(EXTENT, extent_data_ref, HASH), count, _, _),
  verify(uses_explained(EXTENT, HASH)),
  verify(uses_counted(EXTENT, HASH)).

violation(7, 2, k(EXTENT, extent_data_ref, HASH)) :-
  ( new(_, k(_, extent_data, _), backref, k(EXTENT, extent_data_ref, HASH)) ;
    old(_, k(_, extent_data, _), backref, k(EXTENT, extent_data_ref, HASH)) ),
  verify(uses_explained(EXTENT, HASH)),
  query(2, k(EXTENT, extent_data_ref, HASH)),
  verify(uses_counted(EXTENT, HASH)).

uses_explained(EXTENT, HASH) :-
  ref_root(EXTENT, HASH, ROOT),
  sum(COUNT, default_zero(2, k(EXTENT, extent_data_ref, HASH), count, _, COUNT), NEW),
  sum(COUNT, default_zero(2, k(EXTENT, extent_data_ref, HASH), count, COUNT, _), OLD),
  count(change(ROOT, k(_, extent_data, _), backref, _, k(EXTENT, extent_data_ref, HASH)), CAME),
  count(change(ROOT, k(_, extent_data, _), backref, k(EXTENT, extent_data_ref, HASH), _), WENT),
  NEW + WENT =:= OLD + CAME.

% The tree that a back reference names, or named before it was deleted. There is none if a reference
% with the same hash takes its place and names another tree.
ref_root(EXTENT, HASH, ROOT) :-
  ( default_zero(2, k(EXTENT, extent_data_ref, HASH), root, OLD, NEW) ->
      min(OLD, NEW) =:= 0,
      ROOT is max(OLD, NEW)
  ; query(2, k(EXTENT, extent_data_ref, HASH), root, ROOT) ).

% Succeeds if the reference exists and has the right count, or if it is gone and no file extent
% needs it. Always succeeds for a tree that is being dropped: its items disappear without change
% records.
uses_counted(EXTENT, HASH) :-
  query(2, k(EXTENT, extent_data_ref, HASH), root, ROOT),
  ( dropped(ROOT) ->
      true
  ; query(2, k(EXTENT, extent_data_ref, HASH), objectid, INODE),
    query(2, k(EXTENT, extent_data_ref, HASH), offset, START),
    query(2, k(EXTENT, extent_data_ref, HASH), count, COUNT),
    count(uses(ROOT, INODE, START, EXTENT, HASH), COUNT) ).
uses_counted(EXTENT, HASH) :-
  old(2, k(EXTENT, extent_data_ref, HASH), root, ROOT),
  not(query(2, k(EXTENT, extent_data_ref, HASH))),
  old(2, k(EXTENT, extent_data_ref, HASH), objectid, INODE),
  old(2, k(EXTENT, extent_data_ref, HASH), offset, START),
  not(uses(ROOT, INODE, START, EXTENT, HASH)).

% Finds the file extents that a back reference stands for. START is the file offset at which the
% extent would begin. It may lie before the beginning of the file (below 0, in 64 bits). The file
% extents begin within the bytes that the extent holds: at most its length, or 128 KiB if it is
% compressed (BTRFS_MAX_UNCOMPRESSED). So the search does not grow with the file.
uses(ROOT, INODE, START, EXTENT, HASH) :-
  extent_length(EXTENT, LENGTH),
  ( range(ROOT, k(INODE, extent_data, OFFSET), START, START + LENGTH + 131072) ;
    range(ROOT, k(INODE, extent_data, OFFSET), 0, START + LENGTH + 131072 - 18446744073709551616) ),
  query(ROOT, k(INODE, extent_data, OFFSET), backref, k(EXTENT, extent_data_ref, HASH)),
  not(in_whole_leaf(ROOT, k(INODE, extent_data, OFFSET), _)).

% Without an item, an extent counts as the longest that there can be (SZ_256M in
% __btrfs_prealloc_file_range).
extent_length(EXTENT, LENGTH) :- query(2, k(EXTENT, extent_item, LENGTH)).
extent_length(EXTENT, 268435456) :- not(query(2, k(EXTENT, extent_item, _))).

% A tree that does not exist, or that has no name left and is being dropped. The root tree (1) and
% the chunk tree (3) have no root_item.
dropped(ROOT) :- ROOT =\= 1, ROOT =\= 3, not(query(1, k(ROOT, root_item, _), refs, REFS), REFS > 0).

% The leaf of the item has FULL_BACKREF: what its items use counts for the leaf and not for a
% tree.
in_whole_leaf(TREE, ID, LEAF) :-
  query(TREE, ID, leaf, LEAF),
  whole_block(LEAF, 0).

whole_block(BLOCK, LEVEL) :- query(2, k(BLOCK, metadata_item, LEVEL), f(flags, full_backref), 1).
whole_block(BLOCK, _) :- query(2, k(BLOCK, extent_item, _), f(flags, full_backref), 1).

% Rule 71. The extent of a file extent refers back to it: with an extent_data_ref, or with a
% shared_data_ref of the leaf if the leaf has FULL_BACKREF.
% Source: btrfs check, "Data extent ... backref lost"; the reverse of rule 10.
% For the user: the disk space is freed when its last other user goes, and the file then reads
% whatever was written there since.
violation(71, TREE, k(INODE, extent_data, OFFSET)) :-
  new(TREE, k(INODE, extent_data, OFFSET), backref, k(EXTENT, extent_data_ref, HASH)),
  not(query(2, k(EXTENT, extent_data_ref, HASH))),
  not(in_whole_leaf(TREE, k(INODE, extent_data, OFFSET), _)).

violation(71, TREE, k(INODE, extent_data, OFFSET)) :-
  new(TREE, k(INODE, extent_data, OFFSET), backref, k(EXTENT, extent_data_ref, _)),
  query(TREE, k(INODE, extent_data, OFFSET), leaf, LEAF),
  not(plain_leaf(LEAF)),
  not(query(2, k(EXTENT, shared_data_ref, LEAF))).

% Rule 9. The refs of an extent is the sum of its back references: each data reference adds its
% count, each block reference adds 1.
% Source: thesis, table 5.1; btrfs check, "extent item ..., found ...". Checked incrementally.
% For the user: if refs is too low, the space is freed while it is in use; if it is too high, the
% space is never freed.
violation(9, 2, k(EXTENT, KIND, X)) :-
  extent_kind(KIND),
  change(2, k(EXTENT, KIND, X), refs, _, _),
  verify(references_agree(EXTENT)).

violation(9, 2, k(EXTENT, KIND, X)) :-
  backref_kind(KIND),
  change(2, k(EXTENT, KIND, X), object, _, _),
  verify(references_agree(EXTENT)).

references_agree(EXTENT) :-
  extent_refs(EXTENT, extent_item, DATA_NEW, DATA_OLD),
  extent_refs(EXTENT, metadata_item, BLOCK_NEW, BLOCK_OLD),
  counted_refs(EXTENT, extent_data_ref, FILES_NEW, FILES_OLD),
  counted_refs(EXTENT, shared_data_ref, LEAVES_NEW, LEAVES_OLD),
  single_refs(EXTENT, tree_block_ref, TREES_NEW, TREES_OLD),
  single_refs(EXTENT, shared_block_ref, BLOCKS_NEW, BLOCKS_OLD),
  DATA_NEW + BLOCK_NEW + FILES_OLD + LEAVES_OLD + TREES_OLD + BLOCKS_OLD =:=
    DATA_OLD + BLOCK_OLD + FILES_NEW + LEAVES_NEW + TREES_NEW + BLOCKS_NEW.

extent_refs(EXTENT, KIND, NEW, OLD) :-
  sum(REFS, default_zero(2, k(EXTENT, KIND, _), refs, _, REFS), NEW),
  sum(REFS, default_zero(2, k(EXTENT, KIND, _), refs, REFS, _), OLD).

counted_refs(EXTENT, KIND, NEW, OLD) :-
  sum(COUNT, default_zero(2, k(EXTENT, KIND, _), count, _, COUNT), NEW),
  sum(COUNT, default_zero(2, k(EXTENT, KIND, _), count, COUNT, _), OLD).

single_refs(EXTENT, KIND, NEW, OLD) :-
  count(add(2, k(EXTENT, KIND, _)), NEW),
  count(delete(2, k(EXTENT, KIND, _)), OLD).

backref_kind(tree_block_ref).
backref_kind(shared_block_ref).
backref_kind(extent_data_ref).
backref_kind(shared_data_ref).

% Rule 10. Each extent_data_ref that is added has a file extent that uses it.
% Source: thesis, table 5.2; btrfs check, "Backref ... not found in extent tree" in reverse. A
% file extent in a leaf with FULL_BACKREF has the reference of the leaf (rule 8).
% For the user: the space is never freed.
violation(10, 2, k(EXTENT, extent_data_ref, HASH)) :-
  add(2, k(EXTENT, extent_data_ref, HASH)),
  count(change(_, k(_, extent_data, _), backref, _, k(EXTENT, extent_data_ref, HASH)), 0),
  not(used(EXTENT, HASH)).

% A new file extent does not account for the reference if its leaf has FULL_BACKREF.
violation(10, 2, k(EXTENT, extent_data_ref, HASH)) :-
  new(TREE, k(INODE, extent_data, OFFSET), backref, k(EXTENT, extent_data_ref, HASH)),
  query(TREE, k(INODE, extent_data, OFFSET), leaf, LEAF),
  not(plain_leaf(LEAF)),
  query(2, k(EXTENT, extent_data_ref, HASH)),
  not(used(EXTENT, HASH)).

% A leaf without FULL_BACKREF. The engine asks once for each leaf.
plain_leaf(LEAF) :- verify(whole_block(LEAF, 0)).

% A file extent uses the reference. Always succeeds for a tree that is being dropped.
used(EXTENT, HASH) :-
  query(2, k(EXTENT, extent_data_ref, HASH), root, ROOT),
  ( dropped(ROOT) ->
      true
  ; query(2, k(EXTENT, extent_data_ref, HASH), objectid, INODE),
    query(2, k(EXTENT, extent_data_ref, HASH), offset, START),
    uses(ROOT, INODE, START, EXTENT, HASH) ).
