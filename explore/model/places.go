package model

import (
	"path"
	"slices"
)

// places has the directories that each observed directory may be, by its path: the inodes that its
// names have led to, now or before. A rename of a directory need not be on the disk, so that what
// is in it may have its earlier path.
type places map[string][]int

// placesOf returns the places of the directories of an observed tree.
func placesOf(t *tree, s *Observed) places {
	at := make(places, len(s.nodes))
	var walk func(p string, may []int)
	walk = func(p string, may []int) {
		at[p] = may
		for _, name := range s.nodes[p].entries {
			child := path.Join(p, name)
			if n := s.nodes[child]; n == nil || n.kind() != Dir {
				continue
			}
			var dirs []int
			for _, d := range may {
				dirs = appendDirs(dirs, t, t.inodes[d].names[name])
			}
			if len(dirs) > 0 {
				walk(child, dirs)
			}
		}
	}
	walk(".", []int{root})
	return at
}

// appendDirs appends the directories that a name has led to, each once.
func appendDirs(dirs []int, t *tree, e *name) []int {
	if e == nil {
		return dirs
	}
	for _, v := range e.history {
		n := t.inodes[v.value]
		if n != nil && n.kind == Dir && !slices.Contains(dirs, v.value) {
			dirs = append(dirs, v.value)
		}
	}
	return dirs
}

// of returns where each directory may be.
func (at places) of() map[int][]string {
	out := make(map[int][]string, len(at))
	for p, dirs := range at {
		for _, d := range dirs {
			out[d] = append(out[d], p)
		}
	}
	return out
}
