% Directory entries.

% Rule 8. A directory entry that appears names an inode in use.
% Source: e2fsck PR_2_UNUSED_INODE; Recon (FAST 2012).
% For the user: a name in a directory leads nowhere, or to whatever file gets that inode next.
violation(8, dirent, D) :-
  change(dirent, D, inode, _, I),
  I \== null,
  \+ in_use(I).

in_use(I) :-
  query(inode, I, links_count, N),
  N > 0.

% Rule 9. The file type in a directory entry is that of the inode it names.
% Source: e2fsck PR_2_BAD_FILETYPE, PR_2_SET_FILETYPE; ext4_set_de_type.
% For the user: programs that walk a directory by its types take a file for a directory or pass over it.
violation(9, dirent, D) :-
  change(dirent, D, file_type, _, TYPE),
  TYPE \== null,
  change(dirent, D, inode, _, I),
  query(inode, I, f(mode,s_ifmt), MODE),
  MODE \== TYPE.
violation(9, inode, I) :-
  change(inode, I, f(mode,s_ifmt), OLD, NEW),
  OLD \== null,
  NEW \== null,
  count(change(dirent, _, inode, _, I), 0),
  in_use(I),
  query(superblock, 0, feature_incompat, FLAGS),
  FLAGS /\ 2 =:= 2.
