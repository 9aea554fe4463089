% Directory entries.

% Rule 8. A directory entry that is added or changed names an inode in use.
% Source: e2fsck PR_2_UNUSED_INODE; Recon (FAST 2012).
% For the user: a name in a directory leads nowhere, or to the file that gets this inode next.
violation(8, dirent, D) :-
  change(dirent, D, inode, _, I),
  I \== null,
  \+ in_use(I).

in_use(I) :-
  query(inode, I, links_count, N),
  N > 0.

% Rule 9. The file type in a directory entry is the type of the inode that it names.
% Source: e2fsck PR_2_BAD_FILETYPE, PR_2_SET_FILETYPE; ext4_set_de_type.
% For the user: programs that walk a directory by file types take a file for a directory or skip
% it.
violation(9, dirent, D) :-
  change(dirent, D, file_type, _, TYPE),
  change(dirent, D, inode, _, I),
  query(inode, I, f(mode,s_ifmt), MODE),
  MODE \== TYPE.
violation(9, inode, I) :-
  change(inode, I, f(mode,s_ifmt), OLD, _),
  OLD \== null,
  count(change(dirent, _, inode, _, I), 0),
  in_use(I),
  query(superblock, 0, feature_incompat, FLAGS),
  FLAGS /\ 2 =:= 2.

% Rule 19. A directory has one name, in the directory that its entry '..' names; the root
% directory is its own parent and has no name.
% Source: e2fsck PR_3_BAD_DOT_DOT, PR_2_LINK_DIR, PR_2_LINK_ROOT, PR_3_UNCONNECTED_DIR;
% ext4_rename, which rewrites '..'.
% For the user: two paths lead to one directory, or its '..' leads out of it to another place.
violation(19, dirent, a(P,N)) :-
  change(dirent, a(P,N), inode, _, D),
  a_name(N),
  query(dirent, a(D,'..'), inode, Q),
  Q =\= P.
violation(19, dirent, a(P,N)) :-
  change(dirent, a(P,N), inode, _, 2),
  a_name(N).
violation(19, dirent, a(D,'..')) :-
  change(dirent, a(D,'..'), inode, _, P),
  P \== null,
  D =\= 2,
  count(name_of(D), 0).
violation(19, dirent, a(2,'..')) :-
  change(dirent, a(2,'..'), inode, _, P),
  P \== 2.
violation(19, dirent, a(P,N)) :-
  change(dirent, a(P,N), inode, _, D),
  a_name(N),
  directory(D),
  count(name_of(D), NAMES),
  NAMES > 1.
violation(19, dirent, a(P,N)) :-
  change(dirent, a(P,N), inode, _, D),
  a_name(N),
  directory(D),
  was_there(D),
  count(old_name_of(D), 0).

a_name(N) :- N \== '.', N \== '..'.

directory(D) :- query(inode, D, f(mode,s_ifmt), s_ifdir).

% A name that a directory gets. A clause of its own asks of each name whether '..' names its
% directory.
name_of(D) :- change(dirent, a(_,N), inode, _, D), a_name(N).

% A name that a directory loses.
old_name_of(D) :- change(dirent, a(_,N), inode, D, _), a_name(N).

% It was a directory with links before.
was_there(D) :-
  \+ change(inode, D, f(mode,s_ifmt), _, _),
  \+ change(inode, D, links_count, 0, _).

% Rule 20. A directory does not lie in itself or below itself: no move and no set of new
% directories makes a circle.
% Source: e2fsck PR_3_LOOPED_DIR; the VFS's lock_rename.
% Cost: a way up takes some eight steps for each of the eleven levels, however long it is.
% For the user: directories form a circle that no path leads to, with everything in them.
violation(20, dirent, a(D,'..')) :-
  change(dirent, a(D,'..'), inode, _, P),
  P \== null,
  verify(ends(P)),
  in_circle(D, P).

% The way up from X ends: at the root, or at a directory without '..'. A rule of its own is about
% that one.
ends(X) :-
  way(0, X, Y),
  ( Y =:= 2 ; \+ query(dirent, a(Y,'..')) ).

% Y is where the way up from X ends, or far above X. The steps grow: to the next stop of level 1,
% from there to the next one of level 2, and so on. What is found of a stop serves all directories
% below it, so that the cost of a chain grows with its length and not with the square of it.
way(LEVEL, X, Y) :-
  LEVEL =< 10,
  ABOVE is LEVEL + 1,
  climb(LEVEL, 64, X, Z),
  ( step(0, Z, Z) -> Y = Z ; way(ABOVE, Z, Y) ).
way(11, X, X).

% Y is the first stop of the next level above X, or where the way up ends, or 64 steps above X.
climb(LEVEL, N, X, Y) :-
  step(LEVEL, X, Z),
  ( Z =:= X -> Y = X
  ; N =< 1 -> Y = Z
  ; stop(LEVEL + 1, Z) -> Y = Z
  ; M is N - 1, climb(LEVEL, M, Z, Y) ).

% A step of level 0 leads to the parent, a step of another level to the next stop of this level. At
% the end of the way it leads nowhere.
step(0, X, Y) :- ( X =\= 2, query(dirent, a(X,'..'), inode, P) -> Y = P ; Y = X ).
step(LEVEL, X, Y) :-
  LEVEL > 0,
  BELOW is LEVEL - 1,
  once(climb(BELOW, 64, X, Y)).

% One in 8^LEVEL directories is a stop of this level. Their numbers are mixed, since the
% directories of a chain can have numbers at regular distances.
stop(LEVEL, X) :-
  A is ((X xor (X >> 15)) * 739982445) /\ 4294967295,
  B is ((A xor (A >> 12)) * 695872825) /\ 4294967295,
  B < 4294967296 >> (3 * LEVEL).

% D is in the circle that the way up from P leads into. So is each directory below a circle of more
% than 10,000. A file system has at most 2^32 directories.
in_circle(D, P) :-
  way(0, P, X),
  X =\= 2,
  round(D, X, X, 0).

round(D, X, BEGIN, N) :-
  ( X =:= D -> true
  ; N >= 10000 -> true
  ; query(dirent, a(X,'..'), inode, Y),
    Y =\= BEGIN,
    M is N + 1,
    round(D, Y, BEGIN, M) ).
