% Predicates of the prelude that rules may define themselves, so that older rules keep their own.

% What is judged: the whole file system, as additions, or what one commit changes.
baseline :- '$whole'.
commit :- \+ '$whole'.
