package model

import (
	"strings"

	"golang.org/x/sys/unix"
)

// maxLinks bounds the symbolic links of one look-up: MAXSYMLINKS of linux/namei.h.
const maxLinks = 40

// A location is the last component of a path: a directory, and a name in it that need not exist.
// The name is "" for the root; it may be "." or "..".
type location struct {
	dir  int
	name string
}

// parent returns the location of a path, as filename_parentat does (fs/namei.c).
func (t *tree) parent(path string) (location, unix.Errno) {
	links := 0
	return t.walk(root, path, &links)
}

// walk returns the location of a path relative to directory d. It adds the symbolic links that it
// follows to links, and returns ELOOP if there are more than maxLinks.
func (t *tree) walk(d int, path string, links *int) (location, unix.Errno) {
	if path == "" {
		return location{}, unix.ENOENT
	}
	if len(path) >= unix.PathMax {
		return location{}, unix.ENAMETOOLONG
	}
	var parts []string
	for _, s := range strings.Split(path, "/") {
		if s != "" {
			parts = append(parts, s)
		}
	}
	if len(parts) == 0 {
		return location{d, ""}, 0
	}
	for _, s := range parts[:len(parts)-1] {
		next, errno := t.step(location{d, s}, true, links)
		if errno != 0 {
			return location{}, errno
		}
		if t.inodes[next].kind != Dir {
			return location{}, unix.ENOTDIR
		}
		d = next
	}
	return location{d, parts[len(parts)-1]}, 0
}

// step returns the inode at a location. If follow is set, it follows symbolic links.
func (t *tree) step(w location, follow bool, links *int) (int, unix.Errno) {
	switch {
	case w.name == "" || w.name == ".":
		return w.dir, 0
	case w.name == "..":
		return t.inodes[w.dir].parent, 0
	case len(w.name) > unix.NAME_MAX:
		return 0, unix.ENAMETOOLONG
	}
	i := t.inodes[w.dir].lookup(w.name)
	if i == 0 {
		return 0, unix.ENOENT
	}
	n := t.inodes[i]
	if n.kind != Symbolic || !follow {
		return i, 0
	}
	if *links++; *links > maxLinks {
		return 0, unix.ELOOP
	}
	if strings.HasPrefix(n.target, "/") {
		return 0, unix.ENOENT // the target is outside this file system, where nothing exists
	}
	w, errno := t.walk(w.dir, n.target, links)
	if errno != 0 {
		return 0, errno
	}
	return t.step(w, true, links)
}

// find returns the inode of a path. If follow is set, it follows a symbolic link at the end.
func (t *tree) find(path string, follow bool) (int, unix.Errno) {
	w, errno := t.parent(path)
	if errno != 0 {
		return 0, errno
	}
	links := 0
	return t.step(w, follow, &links)
}

// special reports whether a path ends in "." or "..", or is the root: LAST_DOT, LAST_DOTDOT and
// LAST_ROOT of fs/namei.c.
func (w location) special() bool { return w.name == "" || w.name == "." || w.name == ".." }

// freeLocation returns the location of a path at which a file can be created, as filename_create
// does (fs/namei.c).
func (t *tree) freeLocation(path string) (location, unix.Errno) {
	w, errno := t.parent(path)
	switch {
	case errno != 0:
	case w.special():
		errno = unix.EEXIST
	default:
		links := 0
		if _, errno = t.step(w, false, &links); errno == 0 {
			errno = unix.EEXIST
		} else if errno == unix.ENOENT {
			errno = 0
		}
	}
	return w, errno
}

// reach follows symbolic links at the end of a path as open(2) does, and returns the inode. It sets
// w to the location where the file is, or where open would create it. If the links lead to no such
// location, it sets w.dir to 0.
func (t *tree) reach(w *location, follow bool) (int, unix.Errno) {
	for links := 0; ; {
		i, errno := t.step(*w, false, &links)
		if errno != 0 || !follow || t.inodes[i].kind != Symbolic {
			return i, errno
		}
		if links++; links > maxLinks {
			return 0, unix.ELOOP
		}
		target := t.inodes[i].target
		if strings.HasPrefix(target, "/") {
			*w = location{}
			return 0, unix.ENOENT
		}
		next, errno := t.walk(w.dir, target, &links)
		if errno != 0 {
			*w = location{}
			return 0, errno
		}
		*w = next
	}
}

// isAncestor reports whether directory i is d or an ancestor of d.
func (t *tree) isAncestor(i, d int) bool {
	for ; d != i; d = t.inodes[d].parent {
		if d == root {
			return false
		}
	}
	return true
}
