package model

import (
	"fmt"
	"slices"

	"golang.org/x/sys/unix"

	"fsward/explore/agent"
)

// descriptors are the open files, by slot.
type descriptors [agent.MaxSlots]file

// A file is an open file description.
type file struct {
	inode int // 0: the slot is free
	flags int
}

// readable and writable report the access with which a file was opened.
func (s file) readable() bool { return s.flags&unix.O_ACCMODE != unix.O_WRONLY }
func (s file) writable() bool { return s.flags&(unix.O_WRONLY|unix.O_RDWR) != 0 }

// at returns the file in a slot.
func (d *descriptors) at(slot uint32) *file { return &d[slot%agent.MaxSlots] }

// open puts an inode into a slot.
func (d *descriptors) open(t *tree, slot uint32, inode, flags int) {
	t.inodes[inode].open++
	*d.at(slot) = file{inode, flags}
}

// close closes the file in a slot, if there is one.
func (d *descriptors) close(t *tree, slot uint32) {
	s := d.at(slot)
	if s.inode != 0 {
		t.inodes[s.inode].open--
	}
	*s = file{}
}

// closeFrom closes the files in the slots from ≤ slot < to.
func (d *descriptors) closeFrom(t *tree, from, to uint32) {
	for slot := from; slot < to; slot++ {
		d.close(t, slot)
	}
}

// readers reports whether an inode is open for reading.
func (d *descriptors) readers(inode int) bool {
	return slices.ContainsFunc(d[:], func(s file) bool { return s.inode == inode && s.readable() })
}

// label describes how an inode is open, without the numbers of slots.
func (d *descriptors) label(inode int) string {
	var flags []int
	for _, s := range d {
		if s.inode == inode {
			flags = append(flags, s.flags)
		}
	}
	slices.Sort(flags)
	return fmt.Sprint(flags)
}

// CloseAll closes the files that an agent closes at the end of a batch.
func (f *FS) CloseAll() { f.files.closeFrom(&f.tree, 0, agent.FirstHeld) }

// CloseHeld closes the files that stay open at the end of a batch, as an agent does before an
// unmount.
func (f *FS) CloseHeld() { f.files.closeFrom(&f.tree, agent.FirstHeld, agent.MaxSlots) }

// Held returns, for each slot in which a file stays open at the end of a batch, a path that the
// file has or had.
func (f *FS) Held() map[uint32]string {
	var names index
	out := make(map[uint32]string)
	for slot := uint32(agent.FirstHeld); slot < agent.MaxSlots; slot++ {
		if i := f.files.at(slot).inode; i != 0 {
			if names.tree == nil {
				names = f.tree.index()
			}
			out[slot] = names.path(i)
		}
	}
	return out
}
