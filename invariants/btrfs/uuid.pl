% The UUID tree, by which send and receive find subvolumes. It is complete while the superblock's
% uuid_tree_generation is up to date: a kernel that does not know the tree leaves this field
% behind, and the next kernel that knows it fills the tree in.

% Rule 61. The UUID tree has an entry for the uuid and the received_uuid of each subvolume, and no
% other entries.
% Source: btrfs_uuid_tree_add, btrfs_uuid_tree_remove, btrfs_check_uuid_tree_entry.
% For the user: an incremental receive takes the wrong subvolume, or finds none.
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
