% Blocks and who owns them.
%
% a(B,N) of block: the block bitmap marks the N blocks from B on as used. k(B,owner,a(INODE,POS)):
% pointers of an inode name the blocks from B on; length says how many. Two such ranges in the
% records of a transaction have all blocks in common or none: what is true of the first block of a
% range is true of all. a(B,INODE) of xattr_owner: i_file_acl of an inode names B, which is a range
% of its own. Several inodes may share such a block.

% Rule 1. The block bitmap marks a block as used in the transaction in which an inode begins to
% point to it.
% Source: e2fsck PR_5_BLOCK_UNUSED, PR_5_BLOCK_USED; Recon (FAST 2012) block bitmap invariants;
% ext4_mb_new_blocks.
% For the user: a block of a file counts as free, or was in use already, and another file will
% overwrite it.
violation(1, owner, k(B,owner,P)) :-
  add(owner, k(B,owner,P)),
  \+ add(block, a(B,_)),
  \+ delete(owner, k(B,owner,_)).
violation(1, xattr_owner, a(B,I)) :-
  add(xattr_owner, a(B,I)),
  \+ query(block, a(B,1)).

% Rule 2. The block bitmap marks a block as free in the transaction in which an inode stops
% pointing to it, unless another pointer takes the block.
% Source: e2fsck PR_5_BLOCK_UNUSED; Recon (FAST 2012); ext4_free_blocks, which with data=writeback
% lets a data block be taken again in the same transaction.
% For the user: space is lost that no file uses, and only a file system check gives it back.
violation(2, owner, k(B,owner,P)) :-
  delete(owner, k(B,owner,P)),
  \+ delete(block, a(B,_)),
  \+ add(owner, k(B,owner,_)),
  \+ add(xattr_owner, a(B,_)).

% Rule 3. A transaction that marks a block as used also adds a pointer to it.
% Source: e2fsck PR_5_BLOCK_UNUSED; Recon (FAST 2012).
% For the user: space is lost that no file uses, and only a file system check gives it back.
violation(3, block, a(B,N)) :-
  add(block, a(B,N)),
  \+ add(owner, k(B,owner,_)),
  \+ add(xattr_owner, a(B,_)).

% Rule 4. A transaction that marks a block as free also removes a pointer to it, and adds none.
% Source: e2fsck PR_5_BLOCK_USED; Recon (FAST 2012).
% For the user: a block that a file still uses counts as free, and another file will overwrite it.
violation(4, block, a(B,N)) :-
  delete(block, a(B,N)),
  \+ delete(owner, k(B,owner,_)),
  \+ delete(xattr_owner, a(B,_)).
violation(4, block, a(B,N)) :-
  delete(block, a(B,N)),
  add(owner, k(B,owner,_)).

% Rule 5. No two pointers name the same block.
% Source: e2fsck PR_1B_DUP_BLOCK; Recon (FAST 2012).
% For the user: two files, or two places of one file, hold the same block: writing to one destroys
% the other.
% Cost: the owners of one block are one, or the few that the rule reports.
violation(5, owner, k(B,owner,P)) :-
  add(owner, k(B,owner,P)),
  add(owner, k(B,owner,Q)),
  P \= Q.
violation(5, owner, k(B,owner,P)) :-
  add(owner, k(B,owner,P)),
  add(xattr_owner, a(B,_)).

% Rule 12. The refcount of an extended attribute block is the number of inodes that name it: it
% changes by those that begin to name it less those that stop.
% Source: e2fsck PR_1_EXTATTR_REFCOUNT; ext4_xattr_release_block.
% For the user: if the count is too low, the attributes of a file (access lists, security labels)
% are freed while it still has them.
violation(12, xattr_block, B) :-
  default_zero(xattr_block, B, refcount, OLD, NEW),
  count(add(xattr_owner, a(B,_)), ADDED),
  count(delete(xattr_owner, a(B,_)), REMOVED),
  NEW + REMOVED =\= OLD + ADDED.
