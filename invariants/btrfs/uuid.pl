% The tree of UUIDs, by which send and receive find subvolumes. It is complete while the superblock says so:
% a kernel that does not know it leaves uuid_tree_generation behind, and the next one fills it in.

% Rule 61. The tree of UUIDs has each subvolume under its uuid and received_uuid, and no other.
% Source: btrfs_uuid_tree_add, btrfs_uuid_tree_remove, btrfs_check_uuid_tree_entry.
% For the user: an incremental receive would take the wrong subvolume, or find none.
violation(61, 1, k(SUBVOL, root_item, OFFSET)) :-
  uuid_kind(FIELD, KIND),
  new(1, k(SUBVOL, root_item, OFFSET), FIELD, k(FIRST, KIND, SECOND)),
  file_tree(SUBVOL),
  uuids_complete,
  live_tree(SUBVOL),
  not(query(9, k(FIRST, KIND, SECOND), root, SUBVOL)).

violation(61, 9, k(FIRST, KIND, SECOND)) :-
  uuid_kind(FIELD, KIND),
  new(9, k(FIRST, KIND, SECOND), root, SUBVOL),
  uuids_complete,
  not(query(1, k(SUBVOL, root_item, _), FIELD, k(FIRST, KIND, SECOND))).

violation(61, 1, k(SUBVOL, root_item, OFFSET)) :-
  uuid_kind(FIELD, KIND),
  change(9, k(FIRST, KIND, SECOND), root, SUBVOL, null),
  uuids_complete,
  query(1, k(SUBVOL, root_item, OFFSET), FIELD, k(FIRST, KIND, SECOND)),
  live_tree(SUBVOL).

uuid_kind(uuid, uuid_key_subvol).
uuid_kind(received_uuid, uuid_key_received_subvol).

uuids_complete :-
  query(0, k(0, super_block, 0), generation, GENERATION),
  query(0, k(0, super_block, 0), uuid_tree_generation, GENERATION).
