% The superblock and the group descriptors.

% Rule 22. The superblock has no features in revision 0, and blocks are reserved for descriptors only for the resize inode.
% Source: e2fsck PR_0_FS_REV_LEVEL, PR_1_FS_REV_LEVEL, PR_0_NONZERO_RESERVED_GDT_BLOCKS.
% For the user: an old kernel mounts what it does not understand.
violation(22, superblock, 0) :-
  new(superblock, 0, FIELD, _),
  of_revision(FIELD),
  query(superblock, 0, rev_level, 0),
  some_feature.
violation(22, superblock, 0) :-
  new(superblock, 0, FIELD, _),
  of_reserved(FIELD),
  lacks(feature_compat, 16),
  query(superblock, 0, reserved_gdt_blocks, N),
  N =\= 0.

of_revision(rev_level).
of_revision(feature_compat).
of_revision(feature_incompat).
of_revision(feature_ro_compat).

some_feature :- query(superblock, 0, feature_compat, FLAGS), FLAGS =\= 0.
some_feature :- query(superblock, 0, feature_incompat, FLAGS), FLAGS =\= 0.
some_feature :- query(superblock, 0, feature_ro_compat, FLAGS), FLAGS =\= 0.

of_reserved(feature_compat).
of_reserved(reserved_gdt_blocks).

% Rule 23. No group is marked as one whose bitmaps are to be taken as empty: that is a feature of ext4.
% Source: e2fsck PR_0_GDT_UNINIT.
% For the user: a file system that believes the mark gives away blocks and inodes that are in use.
violation(23, group, G) :-
  new(group, G, flags, FLAGS),
  FLAGS /\ 3 =\= 0.
