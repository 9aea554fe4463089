package detect

import (
	"slices"

	"fsward/interp"
)

var _ interp.Lagger = (*Volumes)(nil)

// Lagging returns the disks that lag if the write is a commit of the file system on its volume. The
// flushes of a volume on several disks are not followed: its disks do not lag. Nor does the disk of
// the write itself, if the file system has several volumes on it.
func (v *Volumes) Lagging(w interp.Write) (disks []int) {
	l := v.space.now.Load()
	own, _ := interp.Locate(w.Off)
	i, at, _ := l.locate(w.Off)
	if i == none {
		return nil
	}
	w.Off = at
	for _, j := range v.follower.Lagging(w) {
		s := l.slots[j]
		if !s.spans && s.disk != own && !slices.Contains(disks, s.disk) {
			disks = append(disks, s.disk)
		}
	}
	return disks
}

// Lagging asks the file system to which the write goes.
func (f *Follower) Lagging(w interp.Write) []int {
	disk, _ := interp.Locate(w.Off)
	if in := f.ownerOf(disk); in != nil {
		if l, ok := in.Interpreter.(interp.Lagger); ok {
			return l.Lagging(w)
		}
	}
	return nil
}
