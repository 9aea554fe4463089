% Chunks: which logical addresses exist, and on which part of which device they lie.

% Rule 41. Each chunk_item has a block_group_item with the same address, length and type, and each
% block_group_item has such a chunk_item.
% Source: btrfs check, "Chunk ... relation with block group"; check_chunk_block_group_mappings()
% of the kernel.
% For the user: space is used without being accounted for, or accounted for without existing; the
% file system does not mount.
violation(41, 3, k(256, chunk_item, CHUNK)) :-
  new(3, k(256, chunk_item, CHUNK)),
  not(has_block_group(CHUNK)).

violation(41, TREE, k(CHUNK, block_group_item, LENGTH)) :-
  new(TREE, k(CHUNK, block_group_item, LENGTH), flags, TYPE),
  not(is_chunk(CHUNK, LENGTH, TYPE)).

violation(41, 3, k(256, chunk_item, CHUNK)) :-
  delete(_, k(CHUNK, block_group_item, _)),
  query(3, k(256, chunk_item, CHUNK)),
  not(has_block_group(CHUNK)).

violation(41, TREE, k(CHUNK, block_group_item, LENGTH)) :-
  old(3, k(256, chunk_item, CHUNK), length, LENGTH),
  group_tree(TREE),
  query(TREE, k(CHUNK, block_group_item, LENGTH)).

has_block_group(CHUNK) :-
  query(3, k(256, chunk_item, CHUNK), length, LENGTH),
  query(3, k(256, chunk_item, CHUNK), type, TYPE),
  group_tree(TREE),
  query(TREE, k(CHUNK, block_group_item, LENGTH), flags, TYPE).

is_chunk(CHUNK, LENGTH, TYPE) :-
  query(3, k(256, chunk_item, CHUNK), length, LENGTH),
  query(3, k(256, chunk_item, CHUNK), type, TYPE).

% Block group items lie in the extent tree (2), or in the block group tree (11).
group_tree(2).
group_tree(11).

% Rule 42. Each stripe of a chunk has a dev_extent at its place on its device, of the length that
% the chunk takes there, and each dev_extent has such a stripe.
% Source: btrfs check, "Chunk ... relation with dev extent"; verify_one_dev_extent() of the
% kernel.
% For the user: two chunks get the same part of a disk, and the data of one is overwritten by the
% other's; the file system does not mount.
violation(42, 3, k(256, chunk_stripe, a(CHUNK, N))) :-
  new(3, k(256, chunk_stripe, a(CHUNK, N))),
  not(has_device_extent(CHUNK, N)).

violation(42, 4, k(DEVICE, dev_extent, START)) :-
  new(4, k(DEVICE, dev_extent, START)),
  not(has_stripe(DEVICE, START)).

violation(42, 3, k(256, chunk_stripe, a(CHUNK, N))) :-
  old(4, k(DEVICE, dev_extent, START), chunk_offset, CHUNK),
  query(3, k(256, chunk_stripe, a(CHUNK, N)), devid, DEVICE),
  query(3, k(256, chunk_stripe, a(CHUNK, N)), offset, START).

violation(42, 4, k(DEVICE, dev_extent, START)) :-
  old(3, k(256, chunk_stripe, a(CHUNK, N)), devid, DEVICE),
  old(3, k(256, chunk_stripe, a(CHUNK, N)), offset, START),
  query(4, k(DEVICE, dev_extent, START)),
  not(has_stripe(DEVICE, START)).

has_device_extent(CHUNK, N) :-
  query(3, k(256, chunk_stripe, a(CHUNK, N)), devid, DEVICE),
  query(3, k(256, chunk_stripe, a(CHUNK, N)), offset, START),
  query(4, k(DEVICE, dev_extent, START), chunk_offset, CHUNK),
  query(4, k(DEVICE, dev_extent, START), length, LENGTH),
  stripe_length(CHUNK, LENGTH).

has_stripe(DEVICE, START) :-
  query(4, k(DEVICE, dev_extent, START), chunk_offset, CHUNK),
  query(3, k(256, chunk_stripe, a(CHUNK, N)), devid, DEVICE),
  query(3, k(256, chunk_stripe, a(CHUNK, N)), offset, START),
  query(4, k(DEVICE, dev_extent, START), length, LENGTH),
  stripe_length(CHUNK, LENGTH).

% The length that one stripe takes on a device (btrfs_calc_stripe_length). RAID0, RAID10, RAID5
% (0x80) and RAID6 (0x100) spread a chunk over their stripes, of which one of RAID5 and two of
% RAID6 have parity. All other profiles put the whole chunk on each stripe.
stripe_length(CHUNK, STRIPE) :-
  query(3, k(256, chunk_item, CHUNK), length, LENGTH),
  query(3, k(256, chunk_item, CHUNK), type, TYPE),
  query(3, k(256, chunk_item, CHUNK), num_stripes, STRIPES),
  query(3, k(256, chunk_item, CHUNK), sub_stripes, COPIES),
  PARITY is (TYPE /\ 0x180) // 0x80,
  ( TYPE /\ 0x1c8 =\= 0
  -> STRIPE * ((STRIPES - PARITY) // max(1, COPIES)) =:= LENGTH
  ; STRIPE =:= LENGTH ).
