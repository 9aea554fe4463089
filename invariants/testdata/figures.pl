% Figures of the thesis (Brunch: Robust File System Consistency Checking at Runtime) as they are
% printed; where a figure is a goal or ends in "...", the lines around it make it a whole rule.
% Figures 3.2, 3.11 and 4.2 stand in thesis.pl.

% Figure 3.3: the new value of an inode's flags.
violation('3.3', TREE, k(INODE_NR, inode_item, 0)) :-
change(TREE, k(INODE_NR, inode_item, 0), flags, _, NEW), NEW \= null
.

% Figure 3.4. The rule that it begins: here, a file that grows.
% bind SIZE to the change in the size of the file
violation(15, TREE_ID, k(OBJECTID, inode_item, 0)) :-
    default_zero(TREE_ID, k(OBJECTID, inode_item, 0), size, OLD, NEW),
    SIZE is NEW - OLD, % ...
    SIZE > 0.

% Figure 3.6.
violation(16, TREE, k(INODE_NR, dir_item, CRC)) :-
    new(TREE, k(INODE_NR, dir_item, CRC), type, DIR_ITEM_TYPE),
    query(TREE, k(INODE_NR, dir_item, CRC), location, LOCATION),
    not(query(TREE, LOCATION, f(mode, s_ifmt), INODE_FILE_TYPE),
        DIR_ITEM_TYPE == INODE_FILE_TYPE).

% Figure 3.10(a).
% Bitwise AND: '/\' , Not equal: '\='
violation('3.10a', TREE, ID) :-
    default_zero(TREE, ID, flags, OLD_FLAGS, NEW_FLAGS),
    OLD_NODATASUM = OLD_FLAGS /\ nodatasum,
    NEW_NODATASUM = NEW_FLAGS /\ nodatasum,
    OLD_NODATASUM \= NEW_NODATASUM, % ...
    true.

% Figure 3.10(b).
violation('3.10b', TREE, ID) :-
    new(TREE, ID, f(flags, nodatasum), BIT), % ...
    BIT =:= 1.

% Figure 5.1(a). The property, which it does not print, in its simplest form: the next extent begins
% where this one ends, or the file ends before.
violation(25, TREE_ID, k(OBJECTID, extent_data, OFFSET)) :-
    new(TREE_ID, k(OBJECTID, extent_data, OFFSET), num_bytes, NUM_BYTES),
    query(TREE_ID, k(OBJECTID, inode_item, 0), size, I_SIZE),
    OFFSET < I_SIZE,
    not(property(25, TREE_ID, OBJECTID, OFFSET, NUM_BYTES)).

property(25, TREE_ID, OBJECTID, OFFSET, NUM_BYTES) :-
    END is OFFSET + NUM_BYTES,
    query(TREE_ID, k(OBJECTID, inode_item, 0), size, I_SIZE),
    ( END >= I_SIZE -> true ; query(TREE_ID, k(OBJECTID, extent_data, END)) ).
