% Quota groups. A quota group has the number LEVEL << 48 + ID. The group of a subvolume has level
% 0 and the subvolume's id. The rules do not recount what a group uses: that takes all extents and
% all references to them.

% Rule 62. A quota group has both a qgroup_info and a qgroup_limit.
% Source: add_qgroup_item, del_qgroup_item.
% For the user: quota cannot be switched on, or does not limit anything.
violation(62, 8, k(0, KIND, GROUP)) :-
  qgroup_pair(KIND, OTHER),
  add(8, k(0, KIND, GROUP)),
  not(query(8, k(0, OTHER, GROUP))).

violation(62, 8, k(0, OTHER, GROUP)) :-
  qgroup_pair(KIND, OTHER),
  delete(8, k(0, KIND, GROUP)),
  query(8, k(0, OTHER, GROUP)).

qgroup_pair(qgroup_info, qgroup_limit).
qgroup_pair(qgroup_limit, qgroup_info).

% Rule 63. A qgroup_relation is recorded in both directions, between quota groups that exist and
% have different levels.
% Source: add_qgroup_relation_item, del_qgroup_relation_item, btrfs_add_qgroup_relation.
% For the user: the space of the members does not count for the group, or counts forever.
violation(63, 8, k(GROUP, qgroup_relation, OTHER)) :-
  add(8, k(GROUP, qgroup_relation, OTHER)),
  ( not(query(8, k(OTHER, qgroup_relation, GROUP)))
  ; not(query(8, k(0, qgroup_info, GROUP)))
  ; GROUP >> 48 =:= OTHER >> 48 ).

violation(63, 8, k(OTHER, qgroup_relation, GROUP)) :-
  delete(8, k(GROUP, qgroup_relation, OTHER)),
  query(8, k(OTHER, qgroup_relation, GROUP)).

violation(63, 8, k(GROUP, qgroup_relation, OTHER)) :-
  delete(8, k(0, qgroup_info, GROUP)),
  query(8, k(GROUP, qgroup_relation, OTHER)).

% Rule 64. While quota is consistent, the rfer and excl of a quota group are multiples of
% sectorsize.
% Source: qgroup_update_counters. Not during a rescan, and not where the kernel has marked the
% numbers inconsistent. The rule does not say that excl is at most rfer: Linux (6.18) itself
% breaks this, in a balance and where groups are recounted while snapshots are deleted, and
% continues from there; it also lets counts go below zero. The limit on what a commit adds is rule
% 99.
% For the user: a subvolume runs into its limit too early or never.
violation(64, 8, k(0, qgroup_info, GROUP)) :-
  use_field(FIELD),
  new(8, k(0, qgroup_info, GROUP), FIELD, BYTES),
  quota_consistent,
  query(0, k(0, super_block, 0), sectorsize, SECTOR),
  BYTES mod SECTOR =\= 0.

use_field(rfer).
use_field(excl).

quota_on :- query(8, k(0, qgroup_status, 0), f(flags, on), 1).

quota_consistent :-
  quota_on,
  query(8, k(0, qgroup_status, 0), f(flags, rescan), 0),
  query(8, k(0, qgroup_status, 0), f(flags, inconsistent), 0).

% Rule 67. The rfer of a quota group equals its rfer_cmpr, and its excl equals its excl_cmpr.
% Source: qgroup_update_counters, btrfs_qgroup_inherit, qgroup_rescan_zero_tracking. Simple quotas
% (record_squota_delta) do not update the second numbers, and the rule does not ask for them.
% btrfs check counts anew, "Counts for qgroup id ... are different".
% For the user: a subvolume runs into its limit too early or never.
violation(67, 8, k(0, qgroup_info, GROUP)) :-
  counted_twice(FIELD, COPY),
  new(8, k(0, qgroup_info, GROUP)),
  query(8, k(0, qgroup_status, 0), flags, FLAGS),
  FLAGS /\ 8 =:= 0, % BTRFS_QGROUP_STATUS_FLAG_SIMPLE_MODE
  query(8, k(0, qgroup_info, GROUP), FIELD, COUNT),
  not(query(8, k(0, qgroup_info, GROUP), COPY, COUNT)).

counted_twice(rfer, rfer_cmpr).
counted_twice(excl, excl_cmpr).

% Rule 65. A subvolume that is made while quota is on has a qgroup_info.
% Source: btrfs_qgroup_inherit.
% For the user: data that is written to the subvolume is not counted.
violation(65, 1, k(SUBVOL, root_item, OFFSET)) :-
  add(1, k(SUBVOL, root_item, OFFSET)),
  subvolume(SUBVOL),
  quota_on,
  live_tree(SUBVOL),
  not(query(8, k(0, qgroup_info, SUBVOL))).

% Rule 99. While quota is consistent, the rfer of a subvolume grows by at most the extents that
% its files take and the new blocks of its tree, less those that are freed; it shrinks by at most
% the extents and blocks that the subvolume leaves; its excl changes by at most the extents and
% blocks that all trees take or leave.
% Source: qgroup_update_counters: a group refers to the extents and blocks that its tree leads to.
% The rule is silent where the kernel counts otherwise: during a rescan, in the commits of a
% balance (qgroup_trace_subtree_swap), for a subvolume that is made or dropped, and with simple
% quotas, which charge an extent to its creator. A subvolume that is made with copies of counts
% (btrfs_qgroup_inherit) leaves quota inconsistent. For blocks that go, each changed object of the
% tree stands for two blocks, since a block that two trees share can go without a trace in the
% extent tree.
% For the user: a subvolume runs into its limit too early or never.
% Cost: the search for an added or deleted tree ends at the first one.
violation(99, 8, k(0, qgroup_info, GROUP)) :-
  count_moved(GROUP, rfer, MOVED),
  not(add(1, k(GROUP, root_item, _))),
  sum(BYTES, freed(GROUP, BYTES), FREED),
  sum(BYTES, extent_came(GROUP, BYTES), EXTENTS),
  MOVED + FREED > EXTENTS,
  sum(BYTES, block_came(GROUP, BYTES), BLOCKS),
  sum(BYTES, whole_block_came(BYTES), WHOLE),
  MOVED + FREED > EXTENTS + BLOCKS + WHOLE.

violation(99, 8, k(0, qgroup_info, GROUP)) :-
  count_moved(GROUP, rfer, MOVED),
  sum(BYTES, left(GROUP, BYTES), LEFT),
  MOVED + LEFT < 0,
  sum(BYTES, changed_block(BYTES), BLOCKS),
  MOVED + LEFT + BLOCKS < 0.

% The excl of a group also changes when another tree takes or leaves an extent: the extent becomes
% shared or exclusive. A tree that is made or dropped does this with all of its extents, so the
% clause is silent then.
violation(99, 8, k(0, qgroup_info, GROUP)) :-
  count_moved(GROUP, excl, MOVED),
  LEAST is abs(MOVED),
  not(add(1, k(_, root_item, _))),
  not(delete(1, k(_, root_item, _))),
  not(query(1, k(-5, orphan_item, _))),
  sum(BYTES, moved_anywhere(BYTES), EXTENTS),
  LEAST > EXTENTS,
  sum(BYTES, changed_block(BYTES), BLOCKS),
  LEAST > EXTENTS + BLOCKS.

% By how much a count of a subvolume changed, where Linux counts what the trees lead to. A count
% below zero is stored as the same 64 bits.
count_moved(GROUP, FIELD, MOVED) :-
  change(8, k(0, qgroup_info, GROUP), FIELD, OLD, NEW),
  OLD \== null,
  NEW \== null,
  quota_consistent,
  query(8, k(0, qgroup_status, 0), flags, FLAGS),
  FLAGS /\ 8 =:= 0, % BTRFS_QGROUP_STATUS_FLAG_SIMPLE_MODE
  not(change(8, k(0, qgroup_status, 0), flags, _, _)),
  live_tree(GROUP),
  not(query(1, k(-8, root_item, _))),
  not(delete(1, k(-8, root_item, _))),
  MOVED is (NEW - OLD + 9223372036854775808) mod 18446744073709551616 - 9223372036854775808.

% An upper bound: another file of the subvolume may have had the extent before.
extent_came(GROUP, BYTES) :-
  new(GROUP, k(INODE, extent_data, OFFSET), disk_bytenr, _),
  query(GROUP, k(INODE, extent_data, OFFSET), disk_num_bytes, BYTES).

% A block that is new in a tree was made for it (btrfs_force_cow_block).
block_came(GROUP, NODESIZE) :-
  add(2, k(BLOCK, tree_block_ref, GROUP)),
  made(BLOCK),
  query(0, k(0, super_block, 0), nodesize, NODESIZE).

% A new block with a shared_block_ref does not say for which tree it was made. Such blocks appear
% after a snapshot in the same commit.
whole_block_came(NODESIZE) :-
  add(2, k(BLOCK, shared_block_ref, _)),
  made(BLOCK),
  query(0, k(0, super_block, 0), nodesize, NODESIZE).

made(BLOCK) :- add(2, k(BLOCK, metadata_item, _)).
made(BLOCK) :- add(2, k(BLOCK, extent_item, _)).

% What the tree used and the commit freed. An extent counts once, with the first of the references
% that name the tree. References come in the order of their hashes, so the first one met is that
% one or ends the search.
freed(GROUP, LENGTH) :-
  old(2, k(EXTENT, extent_data_ref, HASH), root, GROUP),
  delete(2, k(EXTENT, extent_item, LENGTH)),
  not(( old(2, k(EXTENT, extent_data_ref, OTHER), root, GROUP), OTHER < HASH )).
freed(GROUP, NODESIZE) :-
  delete(2, k(BLOCK, tree_block_ref, GROUP)),
  block_kind(KIND),
  delete(2, k(BLOCK, KIND, _)),
  query(0, k(0, super_block, 0), nodesize, NODESIZE).

left(GROUP, BYTES) :-
  old(GROUP, k(_, extent_data, _), disk_num_bytes, BYTES).
left(GROUP, BYTES) :-
  old(GROUP, k(INODE, extent_data, OFFSET), disk_bytenr, _),
  query(GROUP, k(INODE, extent_data, OFFSET), disk_num_bytes, BYTES).
left(GROUP, BYTES) :-
  ( new(GROUP, k(_, _, _)) ; delete(GROUP, k(_, _, _)) ),
  query(0, k(0, super_block, 0), nodesize, NODESIZE),
  BYTES is 2 * NODESIZE.

moved_anywhere(BYTES) :- extent_came(TREE, BYTES), file_tree(TREE).
moved_anywhere(BYTES) :- left(TREE, BYTES), file_tree(TREE).

changed_block(LENGTH) :-
  block_kind(KIND),
  ( new(2, k(_, KIND, X)) ; delete(2, k(_, KIND, X)) ),
  extent_length(KIND, X, LENGTH),
  query(0, k(0, super_block, 0), nodesize, LENGTH).

block_kind(metadata_item).
block_kind(extent_item).
