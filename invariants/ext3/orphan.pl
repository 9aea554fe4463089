% The orphan list, which has the inodes that wait to be deleted or truncated, and the times of
% deletion.

% Rule 14. An inode that is marked as used and has no links is on the orphan list; an inode on the
% list is marked as used; the list of a clean file system is empty.
% Source: ext4_orphan_add, ext4_orphan_del; e2fsck PR_0_ORPHAN_CLEAR_INODE,
% PR_0_ORPHAN_ILLEGAL_INODE, PR_1_ORPHAN_LIST_REFUGEES.
% For the user: after a crash the space of deleted files is never given back, or a file in use is
% taken apart.
violation(14, orphan, I) :-
  add(orphan, I),
  \+ query(inode_bit, I).
violation(14, inode, I) :-
  change(inode, I, links_count, _, 0),
  query(inode_bit, I),
  query(superblock, 0, first_ino, FIRST),
  I >= FIRST,
  \+ query(orphan, I).
violation(14, orphan, I) :-
  delete(orphan, I),
  query(inode, I, links_count, 0).
violation(14, superblock, 0) :-
  whole_and_clean,
  new(superblock, 0, last_orphan, I),
  I =\= 0.

% Rule 15. An inode with links has dtime 0, unless it is on the orphan list, which uses dtime to
% name the next inode.
% Source: e2fsck PR_1_SET_DTIME, PR_1_LOW_DTIME, PR_1_ROOT_DTIME; ext4_new_inode, ext4_orphan_del.
% For the user: a file in use looks like a deleted file.
violation(15, inode, I) :-
  new(inode, I, dtime, T),
  T > 0,
  query(inode, I, links_count, N),
  N > 0,
  \+ query(orphan, I).
violation(15, inode, I) :-
  new(inode, I, links_count, N),
  N > 0,
  query(inode, I, dtime, T),
  T > 0,
  \+ query(orphan, I).
violation(15, orphan, I) :-
  delete(orphan, I),
  query(inode, I, links_count, N),
  N > 0,
  query(inode, I, dtime, T),
  T > 0.
