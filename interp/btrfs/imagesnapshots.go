package btrfs

import (
	"fsward/interp/btrfs/ondisk"
)

// candidates returns the trees of a whole image that a snapshot can be compared with, the best one
// first: the snapshot of the same tree before it, and the tree that it was made from. All of them
// were walked before. See docs/decisions/0075.
func (s *snapshots) candidates(d *diff, tree uint64, root *treeRoot) (list []*treeVersion) {
	from, ok := s.from(d, tree, root)
	if !ok {
		return nil
	}
	s.origin[tree] = from
	if v := s.latest[from]; v != nil {
		list = append(list, v)
	}
	if v := s.walked[from]; v != nil && v != s.latest[from] {
		list = append(list, v)
	}
	return list
}

// from returns the number under which the last snapshot of a tree's source is known. Snapshots of a
// tree that was deleted since are known by the first of them.
func (s *snapshots) from(d *diff, tree uint64, root *treeRoot) (from uint64, ok bool) {
	if root.parent == [ondisk.UUIDSize]byte{} {
		from, ok = d.new.ownerBelow(root.pointer)
	} else if from, ok = s.byUUID[root.parent]; !ok {
		s.byUUID[root.parent] = tree
	}
	return from, ok && from != tree && ondisk.IsFileTree(from)
}

// imageTree finds the records of a file tree of a whole image: those of its difference from a tree
// that was walked before, or of all of its items.
func (d *diff) imageTree(id uint64, root *treeRoot) {
	for _, v := range d.snapshots.candidates(d, id, root) {
		if d.snapshots.disordered {
			break
		}
		t := d.newTree(id, v, &root.pointer, false)
		if d.failedHard() {
			return
		}
		if l := t.leaves(); d.canKeep(l) && d.comparable(l) {
			d.kept.compared(l)
			d.mergeTree(t, nil)
			return
		}
	}
	d.mergeTree(d.newTree(id, nil, &root.pointer, false), nil)
}

// canKeep reports whether the memory suffices for the places of the leaves in which trees differ.
func (d *diff) canKeep(l *treeLeaves) bool {
	return d.out.memory.Holds(d.out.bytes(0) + l.bytes())
}

// comparable reports whether the incremental rules find in a difference all that the others would
// find in the newer tree. They trust that what they do not see was right in the older tree. They
// exempt an inode without names there, so that it must not have names here; and what they count of
// an inode depends on its type.
func (d *diff) comparable(l *treeLeaves) bool {
	can := true
	err := l.merge(d.new, keyInterval{}, func(k ondisk.Key, old, now *itemRef) error {
		if k.Type != ondisk.InodeItemKey || old == nil || now == nil {
			return nil
		}
		was, ok := ondisk.ViewInodeItem(old.data())
		is, also := ondisk.ViewInodeItem(now.data())
		if !ok || !also || was.Mode()&modeType != is.Mode()&modeType ||
			was.NLink() == 0 && is.NLink() > 0 {
			can = false
			return errFound
		}
		return nil
	})
	return can && err == nil
}
