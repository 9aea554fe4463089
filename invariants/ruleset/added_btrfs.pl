% Predicates of the prelude for Btrfs that cover the tree of a subvolume and its log alike. Rules may
% define them themselves.

% A field of an object of a subvolume changes: in a commit in the tree of the subvolume, with fsync in
% its log. OLD is what the last commit, or the log before, has; NEW is not null in a log.
file_change(SUBVOL, ID, FIELD, OLD, NEW) :-
  change(SUBVOL, ID, FIELD, OLD, NEW),
  '$subvolume'(SUBVOL).
file_change(SUBVOL, ID, FIELD, OLD, NEW) :-
  change(-6, ID, FIELD, BEFORE, NEW),
  NEW \== null,
  query(0, k(0, super_block, 0), log_of, SUBVOL),
  '$logged_before'(BEFORE, SUBVOL, ID, FIELD, OLD),
  OLD \== NEW.

% The value before a log commit: that of the log before, else that of the last commit.
'$logged_before'(BEFORE, _, _, _, OLD) :- BEFORE \== null, OLD = BEFORE.
'$logged_before'(null, SUBVOL, ID, FIELD, OLD) :- query(SUBVOL, ID, FIELD, OLD).
'$logged_before'(null, SUBVOL, ID, FIELD, null) :- \+ query(SUBVOL, ID, FIELD, _).

% A field of an object of a subvolume after the commit, or after a crash and the recovery of the log:
% what the log has of the object, else what the last commit has.
file_query(SUBVOL, ID, FIELD, VALUE) :- query(SUBVOL, ID, FIELD, VALUE), \+ '$logged'(SUBVOL, ID).
file_query(SUBVOL, ID, FIELD, VALUE) :- '$logged'(SUBVOL, ID), query(-6, ID, FIELD, VALUE).

% The log of the subvolume, which is being judged, has the object.
'$logged'(SUBVOL, ID) :- query(0, k(0, super_block, 0), log_of, SUBVOL), query(-6, ID).

'$subvolume'(5).
'$subvolume'(SUBVOL) :- SUBVOL >= 256, SUBVOL =< 18446744073709551359.
