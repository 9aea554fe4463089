package model

import (
	"maps"
	"path"
	"slices"
)

// An index has the entries that lead to each inode of a tree, now or in their history. It is valid
// until the tree changes.
type index struct {
	tree *tree
	of   map[int][]entry
}

// An entry is a name in a directory.
type entry struct {
	dir int
	s   string
	*name
}

// index returns the index of a tree as it is now.
func (t *tree) index() index {
	x := index{t, make(map[int][]entry, len(t.inodes))}
	for d, n := range t.inodes {
		for s, e := range n.names {
			for k, v := range e.history {
				before := e.history[:k]
				if !slices.ContainsFunc(before, func(w version[int]) bool { return w.value == v.value }) {
					x.of[v.value] = append(x.of[v.value], entry{d, s, e})
				}
			}
		}
	}
	return x
}

// links returns the least and the greatest number of names of inode i from a moment until now.
func (x index) links(i, since int) (least, most int) {
	count := map[int]int{} // by moment: how much the number of names changes
	now := 0
	for _, e := range x.of[i] {
		if e.history[max(0, e.at(since))].value == i {
			now++
		}
		for k, v := range e.history {
			if v.at <= since || k == 0 {
				continue
			}
			if v.value == i {
				count[v.at]++
			}
			if e.history[k-1].value == i {
				count[v.at]--
			}
		}
	}
	least, most = now, now
	for _, at := range slices.Sorted(maps.Keys(count)) {
		now += count[at]
		least, most = min(least, now), max(most, now)
	}
	return least, most
}

// path returns a path of an inode, now or in its history: the first in order of bytes.
func (x index) path(i int) string {
	best := ""
	for _, e := range x.of[i] {
		if p := path.Join(x.dirPath(e.dir), e.s); best == "" || p < best {
			best = p
		}
	}
	return best
}

// dirPath returns the path of a directory, with "…" in place of a parent that does not contain it.
func (x index) dirPath(d int) string {
	if d == root {
		return "/"
	}
	up := x.tree.inodes[d].parent
	for _, e := range x.of[d] {
		if e.dir == up && e.now() == d {
			return path.Join(x.dirPath(up), e.s)
		}
	}
	return "…"
}
