package ext3

import (
	"cmp"
	"slices"
)

// A parentTable holds the directories that entries ".." name, in the order of the inodes that have
// these entries. Rules ask for the parent of each directory, in the order of the names that lead to
// it, which are anywhere on the disk. So a look-up would often read two blocks.
type parentTable struct{ list []parent }

// A parent is a directory and the one that its entry ".." names.
type parent struct{ dir, of uint32 }

// maxParents bounds the directories whose parents are kept: 4 MiB.
const maxParents = 1 << 19

// add notes the parent of a directory, unless there are too many. Of several entries the first
// counts. The directories come in the order of their numbers.
func (t *parentTable) add(dir, of uint32) {
	n := len(t.list)
	if n < maxParents && (n == 0 || t.list[n-1].dir < dir) {
		t.list = append(t.list, parent{dir, of})
	}
}

// find returns the parent of a directory; ok is false if the table does not have it. A nil table
// has none.
func (t *parentTable) find(dir uint32) (of uint32, ok bool) {
	if t == nil {
		return 0, false
	}
	i, ok := slices.BinarySearchFunc(t.list, dir, func(p parent, dir uint32) int {
		return cmp.Compare(p.dir, dir)
	})
	if ok {
		of = t.list[i].of
	}
	return of, ok
}
