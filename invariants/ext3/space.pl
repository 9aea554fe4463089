% How large an inode is: the number of its blocks, and its size.

% Rule 13. The field blocks of an inode counts, in units of 512 bytes, the blocks that it points
% to, including indirect blocks and its extended attribute block.
% Source: e2fsck PR_1_BAD_I_BLOCKS; dquot_alloc_block, dquot_free_block.
% For the user: du and quotas show space that a file does not have, or hide some.
violation(13, inode, I) :-
  change(inode, I, blocks, OLD_OR_NULL, NEW),
  NEW \== null,
  zero_for_null(OLD_OR_NULL, OLD),
  moved(I, BLOCKS),
  query(superblock, 0, log_block_size, LOG),
  NEW =\= OLD + (BLOCKS * (2 << LOG)).

moved(I, BLOCKS) :-
  delta(owner, k(_,owner,a(I,_)), length, MAPPED),
  count(add(xattr_owner, a(_,I)), CAME),
  count(delete(xattr_owner, a(_,I)), WENT),
  BLOCKS is MAPPED + CAME - WENT.

% Rule 16. A file maps no blocks beyond its size, unless it is on the orphan list to be truncated;
% the size of a directory is that of its blocks.
% Source: e2fsck PR_1_BAD_I_SIZE; ext4_truncate, ext4_handle_inode_extension,
% ext4_truncate_failed_write.
% For the user: the end of a file is cut off, or space behind its end is lost.
violation(16, owner, k(B,owner,a(I,P))) :-
  new(owner, k(B,owner,a(I,P)), length, N),
  P < 0x10000000000,
  LAST is P + N - 1,
  beyond(I, LAST).
violation(16, inode, I) :-
  new(inode, I, size, _),
  too_long(I).
violation(16, inode, I) :-
  delete(orphan, I),
  too_long(I).
violation(16, inode, I) :-
  change(inode, I, blocks, _, _),
  directory_size(I).
violation(16, inode, I) :-
  new(inode, I, size, _),
  directory_size(I).

too_long(I) :-
  query(inode, I, end, END),
  LAST is END - 1,
  beyond(I, LAST).

% Whole blocks beyond the end: a size may lie within the last block.
beyond(I, BLOCK) :-
  query(inode, I, size, SIZE),
  query(superblock, 0, log_block_size, LOG),
  BLOCK * (1024 << LOG) > SIZE,
  query(inode, I, f(mode,s_ifmt), s_ifreg),
  query(inode, I, links_count, LINKS),
  LINKS > 0,
  \+ query(orphan, I).

directory_size(I) :-
  query(inode, I, f(mode,s_ifmt), s_ifdir),
  query(inode, I, links_count, LINKS),
  LINKS > 0,
  query(inode, I, end, END),
  query(inode, I, size, SIZE),
  query(superblock, 0, log_block_size, LOG),
  SIZE =\= END * (1024 << LOG).

% Rule 30. The size of a symbolic link does not change.
% Source: e2fsck PR_2_INVALID_SYMLINK (e2fsck_pass1_check_symlink); ext4_symlink.
% For the user: a symbolic link leads elsewhere, or cannot be read.
violation(30, inode, I) :-
  change(inode, I, size, OLD, _),
  OLD \== null,
  OLD > 0,
  query(inode, I, f(mode,s_ifmt), s_iflnk),
  query(inode, I, links_count, N),
  N > 0,
  \+ change(inode, I, f(mode,s_ifmt), _, _),
  \+ change(inode, I, generation, _, _).
