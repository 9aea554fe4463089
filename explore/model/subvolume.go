package model

import (
	"slices"

	"golang.org/x/sys/unix"

	"fsward/explore/agent"
)

// A subvolume of Btrfs is a directory with inodes of its own: no hard link leads out of it, and
// only the directory as a whole can be renamed to another subvolume. btrfs-subvolume(8): "A
// snapshot is a subvolume like any other, with given initial content."

// isVolume reports whether inode i is the root directory of a subvolume.
func (t *tree) isVolume(i int) bool { return i == root || t.inodes[i].volume == i }

// IsVolume reports whether the root directory of a subvolume is at a path.
func (v *volume) IsVolume(path string) bool {
	i, errno := v.tree.find(path, false)
	return errno == 0 && v.tree.isVolume(i)
}

// hasVolumes reports whether subvolumes are below a directory.
func (t *tree) hasVolumes(dir int) bool {
	for _, s := range t.inodes[dir].current() {
		i := t.inodes[dir].lookup(s)
		if t.inodes[i].kind == Dir && (t.isVolume(i) || t.hasVolumes(i)) {
			return true
		}
	}
	return false
}

// subvolumes performs Subvolume, Snapshot and DeleteSubvolume, in the order of btrfs_mksubvol and
// btrfs_ioctl_snap_destroy (fs/btrfs/ioctl.c).
func (v *volume) subvolumes(o Op) unix.Errno {
	source, made := 0, o.Path
	if o.Code == Snapshot || o.Code == SetReadOnly {
		i, errno := v.tree.find(o.Path, true)
		switch {
		case errno != 0:
			return errno
		case v.tree.inodes[i].kind != Dir:
			return unix.ENOTDIR
		}
		source, made = i, o.To
	}
	if o.Code == SetReadOnly {
		return v.tree.setReadOnly(source, o, v.promises.Has(Subvolumes), v.now)
	}
	w, errno := v.tree.parent(made)
	switch {
	case errno != 0:
		return errno
	case !v.promises.Has(Subvolumes):
		return unix.ENOTTY
	case w.name == "" || w.special() && o.Code == DeleteSubvolume: // lookup_one
		return unix.EACCES
	case o.Code == DeleteSubvolume:
		return v.deleteSubvolume(w)
	case o.Code == Snapshot && !v.tree.isVolume(source):
		return unix.EINVAL
	}
	if w, errno = v.tree.freeLocation(made); errno == 0 {
		errno = v.tree.mayWrite(w.dir)
	}
	if errno != 0 {
		return errno
	}
	if o.Code == Snapshot {
		v.setName(w.dir, w.name, v.tree.copyVolume(source, uint32(o.Flags), v.now))
		return 0
	}
	// The list of the directory changes the mode, and is not inherited (btrfs_new_inode_prepare,
	// btrfs_create_new_inode).
	mode := v.tree.inodes[w.dir].attrs.now().inherited(Dir, 0o755).mode
	i, n := v.create(noParent, Dir, mode)
	n.volume = i
	v.inheritCompression(n, w.dir)
	v.setName(w.dir, w.name, i)
	return 0
}

// setReadOnly performs SetReadOnly on a directory. It changes no time.
func (t *tree) setReadOnly(i int, o Op, can bool, now int) unix.Errno {
	switch {
	case !can:
		return unix.ENOTTY
	case !t.isVolume(i):
		return unix.EINVAL
	}
	n := t.inodes[i]
	if a := n.attrs.now(); a.flags&agent.ReadOnly != uint32(o.Flags) {
		a.flags ^= agent.ReadOnly
		n.attrs.set(now, a)
	}
	return 0
}

// usesPlaceholder reports whether an operation does anything with a directory in the place of a
// subvolume but to list or remove it.
func usesPlaceholder(t *tree, o Op) bool {
	uses := func(p string) bool {
		w, errno := t.parent(p)
		if errno != 0 {
			return false
		}
		i, _ := t.find(p, true)
		return t.inodes[w.dir].isPlaceholder() || i != 0 && t.inodes[i].isPlaceholder() &&
			o.Code != Rmdir && o.Code != Readdir
	}
	return uses(o.Path) || o.Code != Symlink && uses(o.To)
}

// copyVolume returns the root directory of a snapshot with the property ReadOnly or without. Each
// copy has one content only: no crash leaves another one. Its times are those of its source.
func (t *tree) copyVolume(source int, property uint32, now int) int {
	copies := make(map[int]int) // by inode; hard links share one
	top := t.last + 1
	var copied func(i int) int
	copied = func(i int) int {
		if c := copies[i]; c != 0 {
			return c
		}
		n := t.inodes[i]
		t.last++
		c := t.last
		if t.isVolume(i) && i != source || n.isPlaceholder() {
			t.inodes[c] = newPlaceholder(top, now)
			return c
		}
		m := &inode{kind: n.kind, volume: top, born: now, changed: now, sized: now,
			mtimeAt: n.mtimeAt, ctimeAt: n.ctimeAt, target: n.target, node: n.node, parent: top,
			tails: slices.Clone(n.tails)}
		a := n.attrs.now()
		if i == source {
			a.flags = a.flags&^agent.ReadOnly | property
		}
		m.attrs.set(now, a)
		copies[i], t.inodes[c] = c, m
		switch n.kind {
		case File:
			m.data.set(now, n.data.now())
		case Dir:
			m.names = make(map[string]*name)
			for _, s := range n.current() {
				below := copied(n.lookup(s))
				t.inodes[below].links++
				t.inodes[below].parent = c
				m.names[s] = &name{history: history[int]{{at: 0}, {at: now, value: below}}}
			}
		}
		return c
	}
	return copied(source)
}

// newPlaceholder returns a directory in the place of a subvolume in a snapshot (new_simple_dir).
// Its owner and times depend on when the kernel looks it up.
func newPlaceholder(top, now int) *inode {
	n := &inode{kind: Dir, volume: top, born: now, changed: now, sized: now,
		names: make(map[string]*name)}
	n.attrs.set(now, attrs{mode: 0o755, flags: agent.Placeholder})
	return n
}

// deleteSubvolume deletes the subvolume at a location.
func (v *volume) deleteSubvolume(w location) unix.Errno {
	links := 0
	i, errno := v.tree.step(w, false, &links)
	if errno == 0 {
		errno = v.tree.mayDelete(w.dir, i)
	}
	switch {
	case errno != 0:
		return errno
	case v.tree.inodes[i].kind != Dir:
		return unix.ENOTDIR
	case !v.tree.isVolume(i):
		return unix.EINVAL
	case v.tree.hasVolumes(i):
		return unix.ENOTEMPTY
	}
	v.removeAll(i)
	v.setName(w.dir, w.name, 0)
	return 0
}

// removeAll removes all names below a directory.
func (v *volume) removeAll(dir int) {
	n := v.tree.inodes[dir]
	for _, s := range n.current() {
		if i := n.lookup(s); v.tree.inodes[i].kind == Dir {
			v.removeAll(i)
		}
		v.setName(dir, s, 0)
	}
}

// apart reports whether a rename would take an inode that is not the root directory of a subvolume
// to another subvolume (btrfs_rename, btrfs_rename_exchange).
func (r *renaming) apart() bool {
	t := r.tree
	if t.inodes[r.from.dir].volume == t.inodes[r.to.dir].volume {
		return false
	}
	return !t.isVolume(r.source) || r.exchange && !t.isVolume(r.target)
}
