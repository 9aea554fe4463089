% Partition tables.

% Rule 1. A partition lies in the range that its table, or its extended partition, has for
% partitions, and on the disk.
% Source: UEFI 2.10, 5.3.2 and 5.3.3; sfdisk --verify, sgdisk -v.
% For the user: writes to the partition fail, or go to the table.
violation(1, partition, P) :-
  new(partition, P),
  query(partition, P, start, START),
  query(partition, P, first_usable, FIRST),
  START < FIRST.
violation(1, partition, P) :-
  new(partition, P),
  query(partition, P, end, END),
  query(partition, P, end_usable, LAST),
  END > LAST.

% Rule 2. Two partitions of a disk do not overlap.
% Source: UEFI 2.10, 5.3.3; sfdisk --verify, sgdisk -v.
% For the user: two file systems write over each other.
violation(2, partition, P) :-
  new(partition, P),
  query(partition, P, next_start, NEXT),
  query(partition, P, end, END),
  NEXT < END.

% Rule 3. Once both copies of a GPT have been written, they describe the same partitions.
% Source: UEFI 2.10, 5.3.2; sgdisk -v.
% For the user: a repair from the other copy moves or loses partitions.
violation(3, table, DISK) :-
  new(table, DISK, landed, 1),
  query(table, DISK, copies, differ).
violation(3, table, DISK) :-
  new(table, DISK, copies, differ),
  query(table, DISK, landed, 1).
