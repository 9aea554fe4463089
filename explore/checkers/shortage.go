package checkers

import (
	"path"

	"golang.org/x/sys/unix"

	"fsward/explore/model"
)

// noInodes is the group of operations without a free inode.
const noInodes Group = "inodes"

// A shortage is what the steps so far have used up.
type shortage struct {
	space  bool // since the last FillDisk there was no FreeDisk
	inodes bool // since the last FillInodes there was no FreeInodes
}

// note records that an operation succeeded.
func (s *shortage) note(o model.Op) {
	switch o.Code {
	case model.FillDisk, model.FreeDisk:
		s.space = o.Code == model.FillDisk
	case model.FillInodes, model.FreeInodes:
		s.inodes = o.Code == model.FillInodes
	}
}

// any reports whether a file of the checker itself takes space or inodes.
func (s *shortage) any() bool { return s.space || s.inodes }

// excuses reports whether an operation may give ENOSPC because of the shortage.
func (s *shortage) excuses(o model.Op) bool { return s.space || s.inodes && makesName(o) }

// makesName reports whether an operation may need an inode, or an entry of a directory, of which
// the root directory of FAT has a fixed number.
func makesName(o model.Op) bool {
	switch o.Code {
	case model.Open:
		return o.Flags&(unix.O_CREAT|unix.O_TMPFILE) != 0
	case model.Mkdir, model.Symlink, model.Mknod, model.Link, model.Linkat, model.Rename,
		model.Subvolume, model.Snapshot:
		return true
	}
	return false
}

// withoutInodes returns steps that use all inodes. They write a file and force it to the disk, make
// another one with the inode of a removed one, give a file another name, or make files and
// directories, which may fail until the inodes are free again.
func withoutInodes(t *topology) (out [][]model.Op) {
	if !t.promises.Has(model.Inodes) {
		return nil
	}
	fill, free := model.Op{Code: model.FillInodes}, model.Op{Code: model.FreeInodes}
	write := func(slot uint32, n, seed uint64) model.Op {
		return model.Op{Code: model.Write, Slot: slot, Len: n, Seed: seed}
	}
	fsync := func(slot uint32) model.Op { return model.Op{Code: model.Fsync, Slot: slot} }
	// Each open has a slot of its own: one that fails leaves the slot closed.
	create := func(slot uint32, p string) model.Op {
		const flags = unix.O_CREAT | unix.O_EXCL | unix.O_RDWR
		return model.Op{Code: model.Open, Slot: slot, Path: p, Flags: flags, Mode: 0o644}
	}
	for _, p := range t.files {
		open := model.Op{Code: model.Open, Path: p, Flags: unix.O_RDWR}
		unlink, other := model.Op{Code: model.Unlink, Path: p}, t.free(path.Dir(p))
		out = append(out,
			step(open, write(0, large, 1), fsync(0), fill, write(0, 2*large, 2), fsync(0)),
			step(fill, unlink, create(0, p), write(0, small, 2), fsync(0)),
			step(open, fill, unlink, create(1, other), write(1, small, 1), fsync(1)),
			step(fill, model.Op{Code: model.Rename, Path: p, To: other}))
		if len(t.files)+len(t.links) < t.limits.Files && !t.promises.NoLinks {
			out = append(out, step(fill, model.Op{Code: model.Link, Path: p, To: other}, free))
		}
	}
	if n := t.free("/"); len(t.files)+len(t.links) < t.limits.Files {
		mkdir := model.Op{Code: model.Mkdir, Path: n, Mode: 0o755}
		out = append(out, step(fill, mkdir, create(0, n), free, create(1, n),
			write(1, small, 1), fsync(1)))
	}
	return out
}
