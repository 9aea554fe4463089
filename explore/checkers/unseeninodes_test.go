package checkers

import (
	"golang.org/x/sys/unix"

	"fsward/explore/model"
)

// An inodeState has what the planted bugs remember of the inodes of the file system in memory.
type inodeState struct {
	used  bool // all inodes are used
	left  int  // of these, as many have become free
	freed bool // all were used
}

// note notes an operation that the file system performs.
func (s *inodeState) note(o model.Op) {
	switch {
	case o.Code == model.FillInodes, o.Code == model.FreeInodes:
		used := o.Code == model.FillInodes
		*s = inodeState{used: used, freed: s.freed || s.used && !used}
	case s.used && (o.Code == model.Unlink || o.Code == model.Rmdir):
		s.left++
	case s.used && makesInode(o):
		s.left--
	}
}

// makesInode reports whether an operation makes a file or directory.
func makesInode(o model.Op) bool {
	return o.Code == model.Mkdir || o.Code == model.Open && o.Flags&unix.O_EXCL != 0
}

// inodesUnlogged reports whether the journal lacks an operation.
func (f *fake) inodesUnlogged(o model.Op) bool {
	return f.bug == "a file in the inode of a removed one not journaled" && f.unseen.inodes.used &&
		makesInode(o)
}

// inodesWrong returns ENOSPC for an operation that finds no inode, and for bugs.
func (f *fake) inodesWrong(o model.Op) unix.Errno {
	s := &f.unseen.inodes
	switch {
	case f.bug == "a write needs a free inode" && o.Code == model.Write && s.used,
		f.bug == "inodes do not become free" && makesInode(o) && s.freed:
		return unix.ENOSPC
	case !s.used || s.left > 0 || !makesInode(o):
		return 0
	case f.bug == "a refused mkdir leaves its name" && o.Code == model.Mkdir:
		f.fs.Apply(o)
	}
	return unix.ENOSPC
}
