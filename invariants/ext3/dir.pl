% Directory entries.

% Rule 8. A directory entry that is added or changed names an inode in use.
% Source: e2fsck PR_2_UNUSED_INODE; Recon (FAST 2012).
% For the user: a name in a directory leads nowhere, or to whatever file gets that inode next.
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
  \+ renamed(D).

a_name(N) :- N \== '.', N \== '..'.

directory(D) :- query(inode, D, f(mode,s_ifmt), s_ifdir).

% A name that a directory gets. A clause of its own asks of each name whether '..' names its
% directory.
name_of(D) :- change(dirent, a(_,N), inode, _, D), a_name(N).

renamed(D) :- change(dirent, a(_,N), inode, D, _), a_name(N).

% It was a directory with links before.
was_there(D) :-
  \+ change(inode, D, f(mode,s_ifmt), _, _),
  \+ change(inode, D, links_count, 0, _).

% Rule 20. A directory does not lie in itself or below itself: no move and no set of new
% directories makes a circle.
% Source: e2fsck PR_3_LOOPED_DIR; the VFS's lock_rename.
% For the user: directories form a circle that no path leads to, with everything in them.
violation(20, dirent, a(D,'..')) :-
  change(dirent, a(D,'..'), inode, _, P),
  P \== null,
  verify(ends(P)),
  in_circle(D, P).

% The way up from X ends: at the root, or at a directory without '..'. A rule of its own is about
% that one. Almost all ways have at most 8 levels.
ends(X) :-
  member(K, [0, 4]),
  once(above(K, 8, X, Y)),
  ( Y =:= 2 ; \+ query(dirent, a(Y,'..')) ).

% Y lies N * 8^K levels above X, or where the way up ends. What is found of a directory serves
% those below it, so that the cost of a chain grows with its length and not with the square of it.
above(_, 0, X, X).
above(K, N, X, Y) :-
  N > 0,
  M is N - 1,
  up(K, X, Z),
  ( Z =:= X -> Y = X ; above(K, M, Z, Y) ).

up(0, X, Y) :- ( X =\= 2, query(dirent, a(X,'..'), inode, P) -> Y = P ; Y = X ).
up(K, X, Y) :-
  K > 0,
  J is K - 1,
  once(above(J, 8, X, Y)).

% D is in the circle that the way up from P leads into. So is each directory below a circle of more
% than 10,000. A file system has at most 2^32 directories.
in_circle(D, P) :-
  once(above(10, 8, P, X)),
  X =\= 2,
  round(D, X, X, 0).

round(D, X, BEGIN, N) :-
  ( X =:= D -> true
  ; N >= 10000 -> true
  ; query(dirent, a(X,'..'), inode, Y),
    Y =\= BEGIN,
    M is N + 1,
    round(D, Y, BEGIN, M) ).
