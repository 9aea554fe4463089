% Quota groups. A group has the number LEVEL << 48 + ID; that of a subvolume has level 0 and the subvolume's id.
% What a group uses is not counted here: that takes all extents and who refers to them.

% Rule 62. A quota group has both its use and its limits.
% Source: add_qgroup_item, del_qgroup_item.
% For the user: quota could not be switched on, or would not limit anything.
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

% Rule 63. That a quota group is a member of another is written both ways, of groups that exist, and of different level.
% Source: add_qgroup_relation_item, del_qgroup_relation_item, btrfs_add_qgroup_relation.
% For the user: what the members use would not count for the group, or for ever.
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

% Rule 64. While quota is consistent, what a quota group uses is whole sectors.
% Source: qgroup_update_counters. Not during a rescan, and not where the kernel has marked the numbers inconsistent. That a subvolume
% uses no more alone than in all is not said: Linux (6.18) itself lets it happen, in a balance and where groups are counted
% anew while snapshots are deleted, and goes on from there; it lets counts go below zero, too. What a commit adds is for rule 99.
% For the user: a subvolume would run into its limit too early or never.
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

% Rule 67. What quota counts it counts twice, and alike: rfer_cmpr is rfer, and excl_cmpr is excl.
% Source: qgroup_update_counters, btrfs_qgroup_inherit, qgroup_rescan_zero_tracking. Simple quotas (record_squota_delta)
% leave the second numbers alone. btrfs check counts anew, "Counts for qgroup id ... are different".
% For the user: a subvolume would run into its limit too early or never.
violation(67, 8, k(0, qgroup_info, GROUP)) :-
  counted_twice(FIELD, COPY),
  new(8, k(0, qgroup_info, GROUP)),
  query(8, k(0, qgroup_status, 0), flags, FLAGS),
  FLAGS /\ 8 =:= 0, % BTRFS_QGROUP_STATUS_FLAG_SIMPLE_MODE
  query(8, k(0, qgroup_info, GROUP), FIELD, COUNT),
  not(query(8, k(0, qgroup_info, GROUP), COPY, COUNT)).

counted_twice(rfer, rfer_cmpr).
counted_twice(excl, excl_cmpr).

% Rule 65. A subvolume that is made while quota is on has a quota group.
% Source: btrfs_qgroup_inherit.
% For the user: what is written to the subvolume would not be counted.
violation(65, 1, k(SUBVOL, root_item, OFFSET)) :-
  add(1, k(SUBVOL, root_item, OFFSET)),
  subvolume(SUBVOL),
  quota_on,
  live_tree(SUBVOL),
  not(query(8, k(0, qgroup_info, SUBVOL))).

% Rule 99. While quota is consistent, what a subvolume uses grows by at most the extents that its files take and the blocks that are made for its tree less those that are freed, and shrinks by at most those that it leaves; what it uses alone changes by at most those of all trees.
% Source: qgroup_update_counters: what a group refers to are the extents and blocks that its tree leads to. Not where the
% kernel counts otherwise: during a rescan, in the commits of a balance (qgroup_trace_subtree_swap), of a subvolume that is
% made or dropped, and with simple quotas, where who made an extent is charged for it. Copies of counts that a subvolume is made with
% (btrfs_qgroup_inherit) leave quota inconsistent. Of the blocks that go, each object of the tree that changed
% stands for two, since one that two trees share can go without a trace in the extent tree.
% For the user: a subvolume would run into its limit too early or never.
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

% Another tree that takes or leaves an extent makes it one of several or of one; one that comes or goes, all of its extents.
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

% By how much a count of a subvolume changed, where Linux counts what the trees lead to. Counts below zero stand there as the same
% 64 bits.
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

% Not looked at: another file of the subvolume may have had the extent before.
extent_came(GROUP, BYTES) :-
  new(GROUP, k(INODE, extent_data, OFFSET), disk_bytenr, _),
  query(GROUP, k(INODE, extent_data, OFFSET), disk_num_bytes, BYTES).

% A block that is new in a tree was made for it (btrfs_force_cow_block).
block_came(GROUP, NODESIZE) :-
  add(2, k(BLOCK, tree_block_ref, GROUP)),
  made(BLOCK),
  query(0, k(0, super_block, 0), nodesize, NODESIZE).

% One that counts as a whole does not say for which tree: so it is after a snapshot in the same commit.
whole_block_came(NODESIZE) :-
  add(2, k(BLOCK, shared_block_ref, _)),
  made(BLOCK),
  query(0, k(0, super_block, 0), nodesize, NODESIZE).

made(BLOCK) :- add(2, k(BLOCK, metadata_item, _)).
made(BLOCK) :- add(2, k(BLOCK, extent_item, _)).

% What the tree has used, and is gone. An extent counts once, with the first of the references that name the tree: they come in the
% order of their hashes, so that the first one met is it or ends the search.
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
