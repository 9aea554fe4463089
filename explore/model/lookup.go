package model

import (
	"strings"

	"golang.org/x/sys/unix"
)

// maxLinks is MAXSYMLINKS of linux/namei.h.
const maxLinks = 40

// where is the place of a path's last component: the directory, and the name in it, which may lead to nothing. The name is ""
// where the path has none (the root), "." or ".." where it ends so.
type where struct {
	dir  int
	name string
}

// parent finds the place of a path, as filename_parentat (fs/namei.c).
func (t *tree) parent(path string) (where, unix.Errno) {
	links := 0
	return t.walk(root, path, &links)
}

func (t *tree) walk(d int, path string, links *int) (where, unix.Errno) {
	if path == "" {
		return where{}, unix.ENOENT
	}
	if len(path) >= unix.PathMax {
		return where{}, unix.ENAMETOOLONG
	}
	var parts []string
	for _, s := range strings.Split(path, "/") {
		if s != "" {
			parts = append(parts, s)
		}
	}
	if len(parts) == 0 {
		return where{d, ""}, 0
	}
	for _, s := range parts[:len(parts)-1] {
		next, errno := t.step(where{d, s}, true, links)
		if errno != 0 {
			return where{}, errno
		}
		if t.inodes[next].kind != Dir {
			return where{}, unix.ENOTDIR
		}
		d = next
	}
	return where{d, parts[len(parts)-1]}, 0
}

// step is the inode at a place. A symbolic link is followed if follow says so.
func (t *tree) step(w where, follow bool, links *int) (int, unix.Errno) {
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
		return 0, unix.ENOENT // it leads out of this file system, where nothing is
	}
	w, errno := t.walk(w.dir, n.target, links)
	if errno != 0 {
		return 0, errno
	}
	return t.step(w, true, links)
}

// find is the inode that a path leads to.
func (t *tree) find(path string, follow bool) (int, unix.Errno) {
	w, errno := t.parent(path)
	if errno != 0 {
		return 0, errno
	}
	links := 0
	return t.step(w, follow, &links)
}

// special says that a path ends in what is no name of its own: LAST_DOT, LAST_DOTDOT and LAST_ROOT of fs/namei.c.
func (w where) special() bool { return w.name == "" || w.name == "." || w.name == ".." }

// free is the place of a path where something can be made, as filename_create (fs/namei.c).
func (t *tree) free(path string) (where, unix.Errno) {
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

// reach follows the links at the end of a path as far as open(2) does, and leaves w where the file is or would be made; without a
// directory, where the links lead to no such place.
func (t *tree) reach(w *where, follow bool) (int, unix.Errno) {
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
			*w = where{}
			return 0, unix.ENOENT
		}
		next, errno := t.walk(w.dir, target, &links)
		if errno != 0 {
			*w = where{}
			return 0, errno
		}
		*w = next
	}
}

// above says whether a directory is another one or above it.
func (t *tree) above(i, d int) bool {
	for ; d != i; d = t.inodes[d].parent {
		if d == root {
			return false
		}
	}
	return true
}
