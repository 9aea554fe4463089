% Free counts. A group whose bitmaps changed has records of its counts, even if the counts did not
% change.

% Rule 10. The free_blocks_count, free_inodes_count and used_dirs_count of a block group change
% with its bitmaps and its directories.
% Source: e2fsck PR_5_FREE_BLOCK_COUNT_GROUP, PR_5_FREE_INODE_COUNT_GROUP,
% PR_5_FREE_DIR_COUNT_GROUP; Recon (FAST 2012).
% For the user: the file system is full although it has free space, or counts free space that it
% does not have.
violation(10, group, G) :-
  change(group, G, free_blocks_count, OLD, NEW),
  before(OLD, G, blocks_count, BASE),
  sum(N, change(block, a(_,N), group, null, G), USED),
  sum(N, change(block, a(_,N), group, G, null), FREED),
  NEW + USED =\= BASE + FREED.
violation(10, group, G) :-
  change(group, G, free_inodes_count, OLD, NEW),
  before(OLD, G, inodes_count, BASE),
  count(change(inode_bit, _, inode_group, null, G), USED),
  count(change(inode_bit, _, inode_group, G, null), FREED),
  NEW + USED =\= BASE + FREED.
violation(10, group, G) :-
  default_zero(group, G, used_dirs_count, OLD, NEW),
  count(change(inode, _, dir_group, _, G), MADE),
  count(change(inode, _, dir_group, G, _), GONE),
  NEW + GONE =\= OLD + MADE.

% A group that did not exist before had everything free. A group that became longer has the added
% part free.
before(OLD, G, ALL, BASE) :-
  ( OLD == null -> query(group, G, ALL, BASE)
  ; change(group, G, ALL, WAS, NOW) -> BASE is OLD + NOW - WAS
  ; BASE = OLD
  ).

% Rule 11. In a clean file system, the superblock's free_blocks_count and free_inodes_count are
% the sums over its groups.
% Source: e2fsck PR_5_FREE_BLOCK_COUNT, PR_5_FREE_INODE_COUNT. While the file system is mounted,
% the counts in the superblock are not kept up to date.
% For the user: df shows space that does not exist, or hides space that does.
violation(11, superblock, 0) :-
  whole_and_clean,
  new(superblock, 0, free_blocks_count, N),
  sum(FREE, change(group, _, free_blocks_count, _, FREE), S),
  N =\= S.
violation(11, superblock, 0) :-
  whole_and_clean,
  new(superblock, 0, free_inodes_count, N),
  sum(FREE, change(group, _, free_inodes_count, _, FREE), S),
  N =\= S.

% All groups have records only when a whole image is checked.
whole_and_clean :-
  add(superblock, 0),
  query(superblock, 0, f(feature_incompat,recover), 0).
