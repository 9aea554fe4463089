% Inodes, their bitmap, and their links.

% Rule 6. The inode bitmap marks each inode that has links, and besides these only reserved inodes
% and orphans.
% Source: e2fsck PR_5_INODE_UNUSED, PR_5_INODE_USED, Recon (FAST 2012) inode bitmap invariants.
% For the user: an inode in use counts as free and is given to another file, and the first file's
% contents are gone.
violation(6, inode, I) :-
  default_zero(inode, I, links_count, _, NEW),
  NEW > 0,
  \+ query(inode_bit, I).
violation(6, inode_bit, I) :-
  delete(inode_bit, I),
  query(inode, I, links_count, N),
  N > 0.
violation(6, inode_bit, I) :-
  add(inode_bit, I),
  query(superblock, 0, first_ino, FIRST),
  I >= FIRST,
  \+ in_use_or_orphan(I).

% An inode without links that is still open is on the orphan list.
in_use_or_orphan(I) :- query(inode, I, links_count, N), N > 0.
in_use_or_orphan(I) :- query(orphan, I).

% Rule 7. The links_count of an inode is the number of directory entries that name it: it changes
% by the entries added less those removed.
% Source: e2fsck PR_4_BAD_REF_COUNT; Recon (FAST 2012); ext4_inc_count, ext4_dec_count.
% For the user: if the count is too low, the file is deleted while a name still leads to it; if it
% is too high, its space is never given back.
violation(7, inode, I) :-
  default_zero(inode, I, links_count, OLD, NEW),
  ( I =:= 2 -> true ; query(superblock, 0, first_ino, FIRST), I >= FIRST ),
  count(change(dirent, _, inode, _, I), ADDED),
  count(change(dirent, _, inode, I, _), REMOVED),
  NEW + REMOVED =\= OLD + ADDED.
