% An entry is added to a file.
rule(13).
object(5,k(257,inode_item,0)).
state(5,k(257,inode_item,0),f(mode,s_ifmt),s_ifreg).
change(5,k(257,dir_item,77),object,null,present).
object(5,k(257,dir_item,77)).
change(5,k(257,dir_index,2),object,null,present).
object(5,k(257,dir_index,2)).
expect(13, 5, k(257,dir_item,77)).
expect(13, 5, k(257,dir_index,2)).

% A file turns into a directory with entries, and a directory with entries into a file; each has one
% record.
change(5,k(258,inode_item,0),object,present,present).
change(5,k(258,inode_item,0),f(mode,s_ifmt),s_ifdir,s_ififo).
object(5,k(258,inode_item,0)).
state(5,k(258,inode_item,0),f(mode,s_ifmt),s_ififo).
object(5,k(258,dir_item,77)).
expect(13, 5, k(258,inode_item,0)).
