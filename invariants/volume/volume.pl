% Volumes: partitions, logical volumes, and disks without a table.

% Rule 4. A change of a table does not remove, cut or move a volume whose file system is in use.
% Source: the kernel refuses to read a table again that changes a mounted partition
% (block/partitions/core.c, BLKRRPART); lvremove and lvreduce refuse likewise.
% For the user: the mounted file system is lost, or writes over the volume that gets its place.
violation(4, volume, V) :-
  delete(volume, V),
  old(volume, V, in_use, 1).
violation(4, volume, V) :-
  new(volume, V, kept, KEPT),
  query(volume, V, in_use, 1),
  query(volume, V, fs_size, SIZE),
  not(add(volume, V)),
  KEPT < SIZE.

% Rule 5. A change of a table does not cut or move a volume below the size that its file system
% claims.
% Source: resize2fs(8) and btrfs(8): a file system is made smaller before its partition.
% For the user: the end of the file system is lost.
violation(5, volume, V) :-
  new(volume, V, kept, KEPT),
  query(volume, V, in_use, 0),
  query(volume, V, fs_size, SIZE),
  not(add(volume, V)),
  KEPT < SIZE.
