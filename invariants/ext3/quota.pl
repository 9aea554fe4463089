% The files of quotas. They have no name and are found through the superblock.

% Rule 31. With the feature quota, the superblock names the quota files of users (inode 3) and of
% groups (inode 4), which are in use. It names no quota file of projects.
% Source: ext4_quota_enable, ext4_check_quota_inum; e2fsck PR_0_INVALID_QUOTA_INO,
% PR_6_UPDATE_QUOTAS; ext2fs quota_inum_is_reserved.
% For the user: the file system cannot be mounted for writing, or its quotas are lost.
violation(31, superblock, 0) :-
  new(superblock, 0, FIELD, _),
  of_quota(FIELD),
  has_quota,
  names_no_quota_file.
violation(31, inode, I) :-
  delete(inode, I),
  quota_file(I).
violation(31, inode, I) :-
  new(inode, I, links_count, 0),
  quota_file(I).

of_quota(feature_ro_compat).
of_quota(usr_quota_inum).
of_quota(grp_quota_inum).
of_quota(prj_quota_inum).

has_quota :- \+ lacks(feature_ro_compat, 256).

quota_file(3) :- has_quota, query(superblock, 0, usr_quota_inum, 3).
quota_file(4) :- has_quota, query(superblock, 0, grp_quota_inum, 4).

names_no_quota_file :- query(superblock, 0, usr_quota_inum, I), I =\= 0, \+ user_file(I).
names_no_quota_file :- query(superblock, 0, grp_quota_inum, I), I =\= 0, \+ group_file(I).
names_no_quota_file :- query(superblock, 0, prj_quota_inum, I), I =\= 0.

user_file(3) :- query(inode, 3, links_count, N), N > 0.

group_file(4) :- query(inode, 4, links_count, N), N > 0.
