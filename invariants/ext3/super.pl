% The superblock and the group descriptors.

% Rule 22. A superblock of revision 0 has no features; blocks are reserved for descriptors only
% with resize_inode; resize_inode excludes meta_bg; a recovery is needed only with a journal.
% Source: e2fsck PR_0_FS_REV_LEVEL, PR_1_FS_REV_LEVEL, PR_0_NONZERO_RESERVED_GDT_BLOCKS,
% PR_0_DISABLE_RESIZE_INODE, PR_0_JOURNAL_RECOVER_SET; ext4_resize_fs.
% For the user: an old kernel mounts a file system that it does not understand.
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

violation(22, superblock, 0) :-
  new(superblock, 0, FIELD, _),
  of_features(FIELD),
  \+ lacks(feature_compat, 16),
  \+ lacks(feature_incompat, 16).
violation(22, superblock, 0) :-
  new(superblock, 0, FIELD, _),
  of_features(FIELD),
  lacks(feature_compat, 4),
  \+ lacks(feature_incompat, 4).

of_features(feature_compat).
of_features(feature_incompat).

of_revision(rev_level).
of_revision(feature_compat).
of_revision(feature_incompat).
of_revision(feature_ro_compat).

some_feature :- query(superblock, 0, feature_compat, FLAGS), FLAGS =\= 0.
some_feature :- query(superblock, 0, feature_incompat, FLAGS), FLAGS =\= 0.
some_feature :- query(superblock, 0, feature_ro_compat, FLAGS), FLAGS =\= 0.

of_reserved(feature_compat).
of_reserved(reserved_gdt_blocks).

% Rule 23. No group descriptor marks its bitmaps as uninitialized, and none has an itable_unused:
% both belong to a feature of ext4.
% Source: e2fsck PR_0_GDT_UNINIT, PR_0_GDT_ITABLE_UNUSED.
% For the user: a kernel that trusts the mark gives away blocks and inodes that are in use.
violation(23, group, G) :-
  new(group, G, flags, FLAGS),
  FLAGS /\ 3 =\= 0.
violation(23, group, G) :-
  new(group, G, itable_unused, N),
  N =\= 0.

% Rule 29. Superblock fields that no transaction of a mounted file system changes stay as they
% are; features and state change only as Linux changes them; an error is marked together with a
% change of error_count.
% Source: ext4_setup_super, ext4_update_super, ext4_update_dynamic_rev, ext4_convert_meta_bg,
% ext4_xattr_update_super_block; e2fsck PR_0_SB_CORRUPT, PR_0_FS_REV_LEVEL,
% PR_0_FUTURE_SB_LAST_MOUNT, PR_0_HURD_CLEAR_FILETYPE, PR_0_CANT_FIND_JOURNAL, PR_0_DIRHASH_HINT,
% PR_0_INVALID_QUOTA_INO, PR_0_BACKUP_JNL, PR_2_HTREE_MIN_HASH, PR_2_HTREE_MAX_HASH.
% For the user: the file system cannot be mounted any more, or is taken for another one, or names
% in large directories are not found.
violation(29, superblock, 0) :-
  frozen(FIELD),
  change(superblock, 0, FIELD, OLD, _),
  OLD \== null.
violation(29, superblock, 0) :-
  new(superblock, 0, rev_level, N),
  N > 1.
violation(29, superblock, 0) :-
  stays(FIELD, BITS),
  old(superblock, 0, FIELD, OLD),
  new(superblock, 0, FIELD, NEW),
  OLD /\ BITS =\= NEW /\ BITS.
violation(29, superblock, 0) :-
  old(superblock, 0, state, OLD),
  new(superblock, 0, state, NEW),
  NEW /\ 2 =\= 0,
  OLD /\ 2 =:= 0,
  \+ counted_error.
violation(29, superblock, 0) :-
  change(superblock, 0, f(flags,hash), OLD, _),
  OLD \== null,
  OLD =\= 0.

frozen(mtime).
frozen(creator_os).
frozen(journal_uuid).
frozen(jnl_backup_type).
frozen(f(hash_seed,low)).
frozen(f(hash_seed,high)).
frozen(desc_size).
frozen(blocks_count_hi).
frozen(log_groups_per_flex).
frozen(usr_quota_inum).
frozen(grp_quota_inum).
frozen(prj_quota_inum).

% The bits that stay. Of the features: all but ext_attr, resize_inode, recover, meta_bg and
% large_file. Of the state: all but the marks of errors and of orphans. The flags say how names
% are hashed, once Linux has decided that.
stays(feature_compat, 0xffffffe7).
stays(feature_incompat, 0xffffffeb).
stays(feature_ro_compat, 0xfffffffd).
stays(state, 0xfff9).

counted_error :- change(superblock, 0, error_count, _, _).

% Rule 26. The reservations of the superblock are possible: at most half of the blocks for root,
% at most as many blocks for descriptors as one block can name, and extra fields of inodes that
% fit into the inode size.
% Source: e2fsck PR_0_SB_CORRUPT (check_super_value), PR_0_BAD_MIN_EXTRA_ISIZE,
% PR_0_BAD_WANT_EXTRA_ISIZE; ext4_fill_super.
% For the user: the file system cannot be mounted, or is full although there is room.
violation(26, superblock, 0) :-
  new(superblock, 0, FIELD, _),
  of_root(FIELD),
  query(superblock, 0, r_blocks_count, N),
  query(superblock, 0, blocks_count, BLOCKS),
  N > BLOCKS // 2.
violation(26, superblock, 0) :-
  new(superblock, 0, reserved_gdt_blocks, N),
  pointers(MOST),
  N > MOST.
violation(26, superblock, 0) :-
  new(superblock, 0, FIELD, N),
  of_large_inodes(FIELD),
  query(superblock, 0, inode_size, SIZE),
  SIZE > 128,
  \+ fits_inode(N, SIZE).

of_root(r_blocks_count).
of_root(blocks_count).

of_large_inodes(min_extra_isize).
of_large_inodes(want_extra_isize).

fits_inode(N, SIZE) :-
  N mod 4 =:= 0,
  N =< SIZE - 128.
