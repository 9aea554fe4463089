package model

import (
	"maps"
	"path"
	"slices"
)

// moments returns the moments at which metadata or contents changed since all metadata were
// durable, and that moment itself. The latest is first.
func (d *disk) moments(t *tree) []int {
	at := map[int]bool{d.meta: true}
	note := func(moment int) {
		if moment > d.meta {
			at[moment] = true
		}
	}
	for _, n := range t.inodes {
		for _, v := range n.attrs {
			note(v.at)
		}
		for _, v := range n.data {
			note(v.at)
		}
		for _, e := range n.names {
			for _, v := range e.history {
				note(v.at)
			}
		}
	}
	out := slices.Sorted(maps.Keys(at))
	slices.Reverse(out)
	return out
}

// A timeline finds the moments of which all metadata of an observed tree may be, without a search:
// each version of a name or of an inode is compared once, for all moments at which it was there.
type timeline struct {
	f       *FS
	seen    *Observed
	moments []int // ascending
	// From one moment to the next: how much the number of differences changes, and that of the
	// observed names that were there.
	differ, agree []int
}

// possible returns those of several moments, which ascend, at which each name was there if it was
// observed, and each inode by itself could be as it was observed.
func (f *FS) possible(s *Observed, moments []int) (out []int) {
	t := timeline{f, s, moments, make([]int, len(moments)+1), make([]int, len(moments)+1)}
	t.compare(root, ".", s.nodes["."], 0, len(moments))
	differ, agree := 0, 0
	for k, moment := range moments {
		differ += t.differ[k]
		agree += t.agree[k]
		if differ == 0 && agree == len(s.nodes) {
			out = append(out, moment)
		}
	}
	return out
}

// from returns the first of the moments at which something is that was set at one.
func (t *timeline) from(at int) int {
	k, _ := slices.BinarySearch(t.moments, at)
	return k
}

// mark counts one more difference, or one name that agrees, at the moments from lo to before hi.
func mark(changes []int, lo, hi int) {
	changes[lo]++
	changes[hi]--
}

// compare compares an inode with an observed node, at the moments from lo to before hi.
func (t *timeline) compare(i int, p string, here *node, lo, hi int) {
	mark(t.agree, lo, hi)
	n := t.f.tree.inodes[i]
	cuts := []int{lo, hi}
	cut := func(at int) {
		if k := t.from(at); lo < k && k < hi {
			cuts = append(cuts, k)
		}
	}
	for _, v := range n.attrs {
		cut(v.at)
	}
	for _, v := range n.data {
		cut(v.at)
	}
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	for k, from := range cuts[:len(cuts)-1] {
		m := matcher{f: t.f, seen: t.seen, moment: t.moments[from]}
		if m.checkNode(i, p, here) != nil {
			mark(t.differ, from, cuts[k+1])
		}
	}
	if n.kind == Dir && here.kind() == Dir {
		t.entries(n, p, lo, hi)
	}
}

// entries compares the names in a directory with the observed ones.
func (t *timeline) entries(dir *inode, p string, lo, hi int) {
	for s, e := range dir.names {
		at := path.Join(p, s)
		here := t.seen.nodes[at]
		for k, v := range e.history {
			from, to := lo, hi
			if k > 0 {
				from = max(lo, t.from(v.at))
			}
			if k+1 < len(e.history) {
				to = min(hi, t.from(e.history[k+1].at))
			}
			switch {
			case from >= to:
			case (v.value == 0) != (here == nil):
				mark(t.differ, from, to)
			case here != nil:
				t.compare(v.value, at, here, from, to)
			}
		}
	}
}
