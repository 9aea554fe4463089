% Blocks and who owns them.
%
% block(B): the block bitmap marks B as used. k(B,owner,a(INODE,POSITION)): a pointer of an inode names B.
% a(B,INODE) of xattr_owner: i_file_acl of an inode names B; several inodes may share such a block.

% Rule 1. A block that an inode begins to point to is marked as used in the same transaction.
% Source: e2fsck PR_5_BLOCK_UNUSED, PR_5_BLOCK_USED; Recon (FAST 2012) block bitmap invariants; ext4_mb_new_blocks.
% For the user: a block that is in a file but counts as free, or was in use already, will be overwritten by another file.
violation(1, owner, k(B,owner,P)) :-
  add(owner, k(B,owner,P)),
  \+ add(block, B),
  \+ delete(owner, k(B,owner,_)).
violation(1, xattr_owner, a(B,I)) :-
  add(xattr_owner, a(B,I)),
  \+ query(block, B).

% Rule 2. A block that an inode no longer points to is marked as free in the same transaction.
% Source: e2fsck PR_5_BLOCK_UNUSED; Recon (FAST 2012); ext4_free_blocks, which lets a block of data be taken again in the
% same transaction with data=writeback.
% For the user: space is lost that no file uses, and that only a file system check gives back.
violation(2, owner, k(B,owner,P)) :-
  delete(owner, k(B,owner,P)),
  \+ delete(block, B),
  \+ add(owner, k(B,owner,_)),
  \+ add(xattr_owner, a(B,_)).

% Rule 3. A block that is marked as used in a transaction is one that something begins to point to.
% Source: e2fsck PR_5_BLOCK_UNUSED; Recon (FAST 2012).
% For the user: space is lost that no file uses, and that only a file system check gives back.
violation(3, block, B) :-
  add(block, B),
  \+ add(owner, k(B,owner,_)),
  \+ add(xattr_owner, a(B,_)).

% Rule 4. A block that is marked as free in a transaction is one that something ceases to point to.
% Source: e2fsck PR_5_BLOCK_USED; Recon (FAST 2012).
% For the user: a block that a file still uses counts as free, and another file will overwrite it.
violation(4, block, B) :-
  delete(block, B),
  \+ delete(owner, k(B,owner,_)),
  \+ delete(xattr_owner, a(B,_)).
violation(4, block, B) :-
  delete(block, B),
  add(owner, k(B,owner,_)).

% Rule 5. No two pointers name the same block.
% Source: e2fsck PR_1B_DUP_BLOCK; Recon (FAST 2012).
% For the user: two files, or two places of one, hold the same block: what is written to one destroys the other.
violation(5, owner, k(B,owner,P)) :-
  add(owner, k(B,owner,P)),
  add(owner, k(B,owner,Q)),
  P \= Q.
violation(5, owner, k(B,owner,P)) :-
  add(owner, k(B,owner,P)),
  add(xattr_owner, a(B,_)).

% Rule 12. The reference count of an extended attribute block moves with the inodes that name it.
% Source: e2fsck PR_1_EXTATTR_READ_ABORT, PR_1_EXTATTR_COUNT; ext4_xattr_release_block.
% For the user: with too low a count the attributes (access lists, security labels) of a file are freed while it still has them.
violation(12, xattr_block, B) :-
  default_zero(xattr_block, B, refcount, OLD, NEW),
  count(add(xattr_owner, a(B,_)), ADDED),
  count(delete(xattr_owner, a(B,_)), REMOVED),
  NEW + REMOVED =\= OLD + ADDED.
