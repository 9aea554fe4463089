% Devices, and the space that chunks take on them.

% Rule 43. The bytes_used of a device is the sum of the lengths of its dev_extents.
% Source: btrfs check, "Dev extent's total-byte ... isn't equal to byte-used". Checked
% incrementally.
% For the user: the file system runs out of space that it has, or uses space that it does not
% have.
violation(43, 3, k(1, dev_item, DEVICE)) :-
  change(3, k(1, dev_item, DEVICE), bytes_used, _, _),
  verify(device_use_agrees(DEVICE)).

violation(43, 3, k(1, dev_item, DEVICE)) :-
  change(4, k(DEVICE, dev_extent, _), length, _, _),
  verify(device_use_agrees(DEVICE)).

device_use_agrees(DEVICE) :-
  sum(USED, default_zero(3, k(1, dev_item, DEVICE), bytes_used, _, USED), USED_NEW),
  sum(USED, default_zero(3, k(1, dev_item, DEVICE), bytes_used, USED, _), USED_OLD),
  sum(LENGTH, default_zero(4, k(DEVICE, dev_extent, _), length, _, LENGTH), TAKEN),
  sum(LENGTH, default_zero(4, k(DEVICE, dev_extent, _), length, LENGTH, _), GIVEN),
  USED_NEW + GIVEN =:= USED_OLD + TAKEN.

% Rule 44. Each dev_extent lies within its device, and no two dev_extents overlap.
% Source: btrfs check, "device extent ... overlaps" and "is out of bounds";
% verify_one_dev_extent() of the kernel.
% For the user: two chunks share disk space, and writing to one destroys the other.
violation(44, 4, k(DEVICE, dev_extent, START)) :-
  new(4, k(DEVICE, dev_extent, START), length, _),
  not(query(3, k(1, dev_item, DEVICE))).

violation(44, 4, k(DEVICE, dev_extent, START)) :-
  new(4, k(DEVICE, dev_extent, START), length, LENGTH),
  query(3, k(1, dev_item, DEVICE), total_bytes, SIZE),
  START + LENGTH > SIZE.

violation(44, 4, k(DEVICE, dev_extent, START)) :-
  new(4, k(DEVICE, dev_extent, START)),
  previous(4, k(DEVICE, dev_extent, START), k(DEVICE, dev_extent, BEFORE)),
  query(4, k(DEVICE, dev_extent, BEFORE), length, LENGTH),
  BEFORE + LENGTH > START.

violation(44, 4, k(DEVICE, dev_extent, START)) :-
  new(4, k(DEVICE, dev_extent, START), length, LENGTH),
  next(4, k(DEVICE, dev_extent, START), k(DEVICE, dev_extent, BEHIND)),
  START + LENGTH > BEHIND.

% A device that becomes smaller still contains its last dev_extent.
violation(44, 3, k(1, dev_item, DEVICE)) :-
  new(3, k(1, dev_item, DEVICE), total_bytes, SIZE),
  previous(4, k(DEVICE, dev_extent, 18446744073709551615), k(DEVICE, dev_extent, START)),
  query(4, k(DEVICE, dev_extent, START), length, LENGTH),
  START + LENGTH > SIZE.
