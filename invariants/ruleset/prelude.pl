% The predicates by which rules ask for changes (thesis 3.3.1). change/5 and the query primitives are
% built in.

% An object was added, changed or deleted.
add(TREE, ID) :- change(TREE, ID, object, null, present).
update(TREE, ID) :- change(TREE, ID, object, present, present).
delete(TREE, ID) :- change(TREE, ID, object, present, null).

% An object, or a field with its value, as it is after the transaction: added or updated.
new(TREE, ID) :- change(TREE, ID, object, _, present).
new(TREE, ID, FIELD, NEW) :- change(TREE, ID, FIELD, _, NEW), NEW \== null.

% An object, or a field with its value, as it was before: deleted or updated.
old(TREE, ID) :- change(TREE, ID, object, present, _).
old(TREE, ID, FIELD, OLD) :- change(TREE, ID, FIELD, OLD, _), OLD \== null.

% A field that changed, with 0 for the side on which it does not exist.
default_zero(TREE, ID, FIELD, OLD, NEW) :-
  change(TREE, ID, FIELD, OLD_OR_NULL, NEW_OR_NULL),
  zero_for_null(OLD_OR_NULL, OLD),
  zero_for_null(NEW_OR_NULL, NEW).

zero_for_null(VALUE, NUMBER) :- VALUE == null, !, NUMBER = 0.
zero_for_null(VALUE, VALUE).

% The sum of the changes of a field over all objects that match ID, and the change of their number.
delta(TREE, ID, FIELD, SUM) :- sum(NEW - OLD, default_zero(TREE, ID, FIELD, OLD, NEW), SUM).
delta_count(TREE, ID, SUM) :- sum(ONE, one_more(TREE, ID, ONE), SUM).
one_more(TREE, ID, 1) :- add(TREE, ID).
one_more(TREE, ID, -1) :- delete(TREE, ID).

% not/2, which figures of the thesis use, negates the conjunction of its arguments.
not(GOAL) :- \+ GOAL.
not(GOAL, AND) :- \+ (GOAL, AND).

% verify(PROPERTY) succeeds if a property that must hold does not hold. A property that was found to
% hold is kept for the rest of the transaction, because several records of one object ask for the same
% property (thesis 4.3).
verify(PROPERTY) :- \+ '$holds'(PROPERTY).

% The first and the last object of a range of keys. If SUB is known, it is compared with theirs.
first_of_range(TREE, k(OID, TYPE, SUB), LOW, HIGH) :-
  once(range(TREE, k(OID, TYPE, FOUND), LOW, HIGH)),
  SUB = FOUND.
last_of_range(TREE, k(OID, TYPE, SUB), LOW, HIGH) :-
  once(range_down(TREE, k(OID, TYPE, FOUND), LOW, HIGH)),
  SUB = FOUND.

member(X, [X|_]).
member(X, [_|REST]) :- member(X, REST).
