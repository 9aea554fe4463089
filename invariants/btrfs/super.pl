% The superblock must agree with the trees.

% Rule 45. The superblock's num_devices is the number of devices, and its total_bytes is the sum
% of their sizes.
% Source: btrfs_read_chunk_tree() of the kernel, which refuses the mount. Checked incrementally.
% For the user: the file system does not mount any more.
violation(45, 0, k(0, super_block, 0)) :-
  change(0, k(0, super_block, 0), total_bytes, _, _),
  verify(total_bytes_agree).

violation(45, 0, k(0, super_block, 0)) :-
  change(3, k(1, dev_item, _), total_bytes, _, _),
  verify(total_bytes_agree).

violation(45, 0, k(0, super_block, 0)) :-
  change(0, k(0, super_block, 0), num_devices, _, _),
  verify(num_devices_agree).

violation(45, 0, k(0, super_block, 0)) :-
  ( add(3, k(1, dev_item, _)) ; delete(3, k(1, dev_item, _)) ),
  verify(num_devices_agree).

total_bytes_agree :-
  sum(SIZE, default_zero(0, k(0, super_block, 0), total_bytes, _, SIZE), NEW),
  sum(SIZE, default_zero(0, k(0, super_block, 0), total_bytes, SIZE, _), OLD),
  sum(SIZE, default_zero(3, k(1, dev_item, _), total_bytes, _, SIZE), DEVICES_NEW),
  sum(SIZE, default_zero(3, k(1, dev_item, _), total_bytes, SIZE, _), DEVICES_OLD),
  NEW + DEVICES_OLD =:= OLD + DEVICES_NEW.

num_devices_agree :-
  sum(N, default_zero(0, k(0, super_block, 0), num_devices, _, N), NEW),
  sum(N, default_zero(0, k(0, super_block, 0), num_devices, N, _), OLD),
  count(add(3, k(1, dev_item, _)), ADDED),
  count(delete(3, k(1, dev_item, _)), DELETED),
  NEW + DELETED =:= OLD + ADDED.

% Rule 46. The dev_item in the superblock has the total_bytes and bytes_used of its device's
% dev_item in the chunk tree. The first superblock of a commit can belong to a device without a
% dev_item: the target of a replacement, which is device 0, or a device that the next transaction
% adds while the superblocks of this one are being written.
% Source: write_all_supers(), btrfs_init_new_device(), btrfs_init_dev_replace_tgtdev() of the
% kernel; btrfs check, "device size mismatch".
% For the user: the file system takes its disk for larger or smaller than it is.
violation(46, 0, k(0, super_block, 0)) :-
  new(0, k(0, super_block, 0), f(dev_item, total_bytes), SIZE),
  query(0, k(0, super_block, 0), devid, DEVICE),
  query(3, k(1, dev_item, DEVICE), total_bytes, OTHER),
  SIZE =\= OTHER.

violation(46, 0, k(0, super_block, 0)) :-
  new(0, k(0, super_block, 0), f(dev_item, bytes_used), USED),
  query(0, k(0, super_block, 0), devid, DEVICE),
  query(3, k(1, dev_item, DEVICE), bytes_used, OTHER),
  USED =\= OTHER.

violation(46, 0, k(0, super_block, 0)) :-
  query(0, k(0, super_block, 0), devid, DEVICE),
  new(3, k(1, dev_item, DEVICE), total_bytes, SIZE),
  not(query(0, k(0, super_block, 0), f(dev_item, total_bytes), SIZE)).

violation(46, 0, k(0, super_block, 0)) :-
  query(0, k(0, super_block, 0), devid, DEVICE),
  new(3, k(1, dev_item, DEVICE), bytes_used, USED),
  not(query(0, k(0, super_block, 0), f(dev_item, bytes_used), USED)).

% Rule 47. The superblock's bytes_used is the sum of used over all block groups.
% Source: btrfs check, "super bytes used ... mismatches actual used". Checked incrementally.
% For the user: df shows wrong numbers, and the file system reports that it is full when it is
% not.
violation(47, 0, k(0, super_block, 0)) :-
  change(0, k(0, super_block, 0), bytes_used, _, _),
  verify(bytes_used_agree).

violation(47, 0, k(0, super_block, 0)) :-
  change(_, k(_, block_group_item, _), used, _, _),
  verify(bytes_used_agree).

bytes_used_agree :-
  sum(USED, default_zero(0, k(0, super_block, 0), bytes_used, _, USED), NEW),
  sum(USED, default_zero(0, k(0, super_block, 0), bytes_used, USED, _), OLD),
  sum(USED, default_zero(_, k(_, block_group_item, _), used, _, USED), GROUPS_NEW),
  sum(USED, default_zero(_, k(_, block_group_item, _), used, USED, _), GROUPS_OLD),
  NEW + GROUPS_OLD =:= OLD + GROUPS_NEW.
