% A new directory has two names in one directory.
rule(19).
change(dirent,a(20,'d'),object,null,present).
change(dirent,a(20,'d'),inode,null,30).
object(dirent,a(20,'d')).
state(dirent,a(20,'d'),inode,30).
change(dirent,a(30,'.'),object,null,present).
change(dirent,a(30,'.'),inode,null,30).
object(dirent,a(30,'.')).
state(dirent,a(30,'.'),inode,30).
change(dirent,a(30,'..'),object,null,present).
change(dirent,a(30,'..'),inode,null,20).
object(dirent,a(30,'..')).
state(dirent,a(30,'..'),inode,20).
change(inode,30,object,null,present).
change(inode,30,f(mode,s_ifmt),null,s_ifdir).
change(inode,30,links_count,null,2).
object(inode,30).
state(inode,30,f(mode,s_ifmt),s_ifdir).
state(inode,30,links_count,2).
change(dirent,a(20,'e'),object,null,present).
change(dirent,a(20,'e'),inode,null,30).
object(dirent,a(20,'e')).
state(dirent,a(20,'e'),inode,30).
object(inode,20).
state(inode,20,f(mode,s_ifmt),s_ifdir).
state(inode,20,links_count,3).
object(dirent,a(20,'..')).
state(dirent,a(20,'..'),inode,2).
expect(19, dirent, a(20,'d')).
expect(19, dirent, a(20,'e')).

% An existing directory gets a second name in addition to the first; a directory in it is removed.
change(dirent,a(20,'g'),object,null,present).
change(dirent,a(20,'g'),inode,null,31).
object(dirent,a(20,'g')).
state(dirent,a(20,'g'),inode,31).
object(inode,31).
state(inode,31,f(mode,s_ifmt),s_ifdir).
state(inode,31,links_count,2).
object(dirent,a(31,'..')).
state(dirent,a(31,'..'),inode,20).
change(dirent,a(31,'.x'),object,present,null).
change(dirent,a(31,'.x'),inode,32,null).
change(dirent,a(32,'.'),object,present,null).
change(dirent,a(32,'.'),inode,32,null).
change(dirent,a(32,'..'),object,present,null).
change(dirent,a(32,'..'),inode,31,null).
expect(19, dirent, a(20,'g')).

% '..' of a new directory names the directory itself, and nothing else names it.
change(dirent,a(33,'.'),object,null,present).
change(dirent,a(33,'.'),inode,null,33).
object(dirent,a(33,'.')).
state(dirent,a(33,'.'),inode,33).
change(dirent,a(33,'..'),object,null,present).
change(dirent,a(33,'..'),inode,null,33).
object(dirent,a(33,'..')).
state(dirent,a(33,'..'),inode,33).
change(inode,33,object,null,present).
change(inode,33,f(mode,s_ifmt),null,s_ifdir).
change(inode,33,links_count,null,2).
object(inode,33).
state(inode,33,f(mode,s_ifmt),s_ifdir).
state(inode,33,links_count,2).
expect(19, dirent, a(33,'..')).

% The '..' of two new directories name each other, and neither has a name.
change(dirent,a(34,'..'),object,null,present).
change(dirent,a(34,'..'),inode,null,35).
object(dirent,a(34,'..')).
state(dirent,a(34,'..'),inode,35).
change(inode,34,object,null,present).
change(inode,34,f(mode,s_ifmt),null,s_ifdir).
change(inode,34,links_count,null,2).
object(inode,34).
state(inode,34,f(mode,s_ifmt),s_ifdir).
state(inode,34,links_count,2).
change(dirent,a(35,'..'),object,null,present).
change(dirent,a(35,'..'),inode,null,34).
object(dirent,a(35,'..')).
state(dirent,a(35,'..'),inode,34).
change(inode,35,object,null,present).
change(inode,35,f(mode,s_ifmt),null,s_ifdir).
change(inode,35,links_count,null,2).
object(inode,35).
state(inode,35,f(mode,s_ifmt),s_ifdir).
state(inode,35,links_count,2).
expect(19, dirent, a(34,'..')).
expect(19, dirent, a(35,'..')).

% A name in the root leads to the root.
object(dirent,a(2,'..')).
state(dirent,a(2,'..'),inode,2).
object(inode,2).
state(inode,2,f(mode,s_ifmt),s_ifdir).
state(inode,2,links_count,3).
change(dirent,a(2,'r'),object,null,present).
change(dirent,a(2,'r'),inode,null,2).
object(dirent,a(2,'r')).
state(dirent,a(2,'r'),inode,2).
expect(19, dirent, a(2,'r')).
