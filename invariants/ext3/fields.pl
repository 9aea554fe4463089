% Fields of inodes: which inodes may have which values.

% Rule 17. Fields and flags of an inode that the file system does not use are 0.
% Source: e2fsck PR_2_FADDR_ZERO, PR_2_FILE_ACL_ZERO, PR_2_I_FILE_ACL_HI_ZERO,
% PR_2_DIR_SIZE_HIGH_ZERO, PR_2_BLOCKS_HI_ZERO, PR_1_SET_IMAGIC.
% For the user: the inode is garbage, or a later version of the file system takes the field for
% something else.
violation(17, inode, I) :-
  unused(FIELD),
  new(inode, I, FIELD, N),
  N =\= 0.
violation(17, inode, I) :-
  new(inode, I, file_acl, N),
  N =\= 0,
  lacks(feature_compat, 8).
violation(17, inode, I) :-
  new(inode, I, f(flags,other), FLAGS),
  FLAGS /\ 0x2000 =\= 0,
  lacks(feature_compat, 2).

unused(faddr).
unused(blocks_high).
unused(file_acl_high).
unused(size_high).

lacks(FEATURES, FLAG) :-
  query(superblock, 0, FEATURES, SET),
  SET /\ FLAG =:= 0.

% Rule 18. Devices, pipes and sockets have no size; they and symbolic links are neither immutable
% nor append-only; only a directory has the index flag, and only with the feature dir_index.
% Source: e2fsck PR_1_SET_NONZSIZE, PR_1_SET_IMMUTABLE, PR_2_BAD_CHAR_DEV, PR_2_BAD_BLOCK_DEV,
% PR_1_HTREE_NODIR, PR_1_HTREE_SET.
% For the user: the inode is garbage: its type or its content is wrong.
violation(18, inode, I) :-
  new(inode, I, f(mode,s_ifmt), TYPE),
  special(TYPE),
  wrong_special(I, TYPE).
violation(18, inode, I) :-
  change(inode, I, size, OLD, SIZE),
  OLD \== null,
  SIZE \== null,
  SIZE > 0,
  query(inode, I, f(mode,s_ifmt), TYPE),
  special(TYPE),
  TYPE \== s_iflnk.
violation(18, inode, I) :-
  new(inode, I, f(flags,immutable), 1),
  query(inode, I, f(mode,s_ifmt), TYPE),
  special(TYPE).
violation(18, inode, I) :-
  new(inode, I, f(flags,append), 1),
  query(inode, I, f(mode,s_ifmt), TYPE),
  special(TYPE).
violation(18, inode, I) :-
  new(inode, I, f(flags,index), 1),
  unfit_for_index(I).
violation(18, inode, I) :-
  change(inode, I, f(mode,s_ifmt), OLD, _),
  OLD \== null,
  query(inode, I, f(flags,index), 1),
  unfit_for_index(I).

special(s_ifchr).
special(s_ifblk).
special(s_ififo).
special(s_ifsock).
special(s_iflnk).

wrong_special(I, TYPE) :- TYPE \== s_iflnk, query(inode, I, size, SIZE), SIZE > 0.
wrong_special(I, _) :- query(inode, I, f(flags,immutable), 1).
wrong_special(I, _) :- query(inode, I, f(flags,append), 1).

unfit_for_index(I) :- query(inode, I, f(mode,s_ifmt), TYPE), TYPE \== s_ifdir.
unfit_for_index(_) :- lacks(feature_compat, 32).

% Rule 21. The root inode is a directory, the journal and the quota files are regular files, and
% reserved inodes without a use have no mode.
% Source: e2fsck PR_1_ROOT_NO_DIR, PR_1_INVALID_BAD_INODE, PR_1_JOURNAL_BAD_MODE,
% PR_1_JOURNAL_INODE_NOT_CLEAR, PR_0_CLEAR_RESIZE_INODE, PR_1_RESERVED_BAD_MODE,
% PR_1_QUOTA_BAD_MODE, PR_1_QUOTA_INODE_NOT_CLEAR.
% For the user: without its root the file system cannot be mounted, and without its journal it
% cannot be written.
violation(21, inode, 2) :-
  delete(inode, 2).
violation(21, inode, 2) :-
  new(inode, 2, f(mode,s_ifmt), TYPE),
  TYPE \== s_ifdir.
violation(21, inode, I) :-
  new(inode, I, f(mode,s_ifmt), TYPE),
  TYPE \== s_ifreg,
  query(superblock, 0, journal_inum, I).
violation(21, inode, I) :-
  new(inode, I, f(mode,s_ifmt), TYPE),
  TYPE \== s_ifreg,
  quota_file(I).
violation(21, inode, I) :-
  add(inode, I),
  I =\= 2,
  query(superblock, 0, first_ino, FIRST),
  I < FIRST,
  \+ reserved_for(I).

% The files of quotas (3, 4), the boot loader (5), the resize inode (7) and the journal (8).
reserved_for(I) :- quota_file(I).
reserved_for(5).
reserved_for(7) :- \+ lacks(feature_compat, 16).
reserved_for(8) :- \+ lacks(feature_compat, 4).

% Rule 27. The journal keeps its links, its size and its blocks as long as it is in use.
% Source: e2fsck PR_0_JOURNAL_BAD_INODE; ext4_get_journal_inode. Linux looks up the blocks of the
% log once, when it mounts.
% For the user: after a crash the last transactions are read from the wrong blocks, and are lost.
violation(27, inode, I) :-
  new(inode, I, links_count, 0),
  journal(I).
violation(27, inode, I) :-
  delete(inode, I),
  journal(I).
violation(27, inode, I) :-
  change(inode, I, size, OLD, NEW),
  OLD \== null,
  NEW \== OLD,
  journal(I).
violation(27, owner, k(B,owner,a(I,P))) :-
  add(owner, k(B,owner,a(I,P))),
  journal(I),
  \+ add(inode, I).
violation(27, owner, k(B,owner,a(I,P))) :-
  delete(owner, k(B,owner,a(I,P))),
  journal(I).

journal(I) :-
  query(superblock, 0, journal_inum, I),
  I > 0,
  \+ lacks(feature_compat, 4).

% Rule 28. A regular file of 2 GiB or more requires the feature large_file.
% Source: e2fsck PR_2_FEATURE_LARGE_FILES; ext4_do_update_inode, which sets the feature with the
% first such file.
% For the user: an old system that mounts the file system cuts the file off.
violation(28, inode, I) :-
  new(inode, I, size, SIZE),
  SIZE > 0x7fffffff,
  query(inode, I, f(mode,s_ifmt), s_ifreg),
  lacks(feature_ro_compat, 2).
