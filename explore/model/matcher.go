package model

import (
	"fmt"
	"maps"
	"path"
	"slices"
)

// A matcher assigns an inode of the model to each observed file, by a search with backtracking.
type matcher struct {
	f       *FS
	seen    *Observed
	exact   bool // compare with the current state, not with what a crash may leave
	shallow bool // extended attributes were not read
	moment  int  // moment of all metadata; or anyMoment

	names index
	files map[int]uint64 // observed inode number by inode of the model
	ours  map[uint64]int // inode of the model by observed inode number
	found map[int]int    // by inode of the model: how many observed names refer to it
	steps int            // that are left
	err   error          // first error on the branch that matched the most names
	far   int            // names that this branch had matched
	done  int            // names that the current branch has matched
}

// anyMoment as matcher.moment allows each name and attribute a moment of its own, from the moment
// on since which it is durable.
const anyMoment = -1

// maxSteps bounds the search, beside one step for each name. A name rarely referred to more than
// two or three inodes since it was last durable.
const maxSteps = 100_000

// A task is a name to match.
type task struct {
	dir  int // inode of the model
	name string
	path string // in the observed tree
}

// run searches for an assignment. If there is none, it returns a *Mismatch.
func (m *matcher) run() error {
	m.files, m.ours, m.found = make(map[int]uint64), make(map[uint64]int), make(map[int]int)
	top := m.seen.nodes["."]
	if err := m.checkNode(root, ".", top); err != nil {
		return err
	}
	m.bind(root, top)
	m.steps = maxSteps + len(m.seen.nodes)
	for _, n := range m.f.tree.inodes {
		m.steps += len(n.names)
	}
	if m.solve(m.tasks(root, ".")) {
		return nil
	}
	if m.steps < 0 {
		return mismatchf("undecided",
			"the files could not be matched within %d steps; the first difference so far: %v",
			maxSteps, m.err)
	}
	return m.err
}

// tasks returns the names of directory d, in the model or in the observed tree at path p.
func (m *matcher) tasks(d int, p string) (out []task) {
	all := slices.Clone(m.seen.nodes[p].entries)
	for s := range m.f.tree.inodes[d].names {
		if _, is := slices.BinarySearch(m.seen.nodes[p].entries, s); !is {
			all = append(all, s)
		}
	}
	slices.Sort(all)
	for _, s := range all {
		out = append(out, task{d, s, path.Join(p, s)})
	}
	return out
}

// candidates returns the inodes of the model that a name may refer to, 0 for none. The most likely
// one is first.
func (m *matcher) candidates(t task) []int {
	d := m.f.tree.inodes[t.dir]
	e := d.names[t.name]
	switch {
	case e == nil:
		return []int{0}
	case m.moment >= 0:
		return []int{e.history[max(0, e.at(m.moment))].value}
	}
	var out []int
	for _, v := range e.since(m.f.disk.nameSince(d, e)) {
		if !slices.Contains(out, v.value) {
			out = append(out, v.value)
		}
		if v.value != 0 && !m.f.disk.isDurable(m.f.tree.inodes[v.value]) && !slices.Contains(out, 0) {
			out = append(out, 0)
		}
	}
	slices.Reverse(out) // the newest is the most likely
	return out
}

// solve reports whether all names of todo, and the names below them, can be matched.
func (m *matcher) solve(todo []task) bool {
	if m.steps--; m.steps < 0 {
		return false
	}
	if len(todo) == 0 {
		return m.checkLinks()
	}
	t, todo := todo[0], todo[1:]
	m.done++
	defer func() { m.done-- }()
	here := m.seen.nodes[t.path]
	for _, i := range lastIfThere(m.candidates(t), here) {
		switch {
		case i == 0 && here == nil:
			if m.solve(todo) {
				return true
			}
			continue
		case here == nil:
			m.note(mismatchf("lost", "/%s is gone: %s", t.path, m.explain(t)))
			continue
		case i == 0:
			m.note(mismatchf("appeared", "/%s is %v and must not exist: %s",
				t.path, here.kind(), m.explain(t)))
			continue
		}
		if err := m.checkNode(i, t.path, here); err != nil {
			m.note(err)
			continue
		}
		undo := m.bind(i, here)
		next := todo
		if here.kind() == Dir {
			next = append(m.tasks(i, t.path), todo...)
		}
		if m.solve(next) {
			return true
		}
		undo()
	}
	return false
}

// lastIfThere moves 0, which stands for no inode, to the end if a name is there: then the error is
// what speaks against the inodes that the name may refer to.
func lastIfThere(candidates []int, here *node) []int {
	if i := slices.Index(candidates, 0); here != nil && i >= 0 {
		candidates = append(slices.Delete(candidates, i, i+1), 0)
	}
	return candidates
}

// note keeps the first error of the branch that matched the most names.
func (m *matcher) note(err error) {
	if m.err == nil || m.done > m.far {
		m.err, m.far = err, m.done
	}
}

// explain describes the operations that gave a name the inodes that it may refer to.
func (m *matcher) explain(t task) string {
	d := m.f.tree.inodes[t.dir]
	e := d.names[t.name]
	if e == nil {
		return "no operation has created it since everything was last durable"
	}
	s := ""
	for _, v := range e.since(max(0, m.f.disk.nameSince(d, e))) {
		if s != "" {
			s += "; "
		}
		switch {
		case v.at > 0 && v.at <= len(m.f.log):
			s += fmt.Sprintf("operation %d was %v", v.at, m.f.log[v.at-1])
		case v.value == 0:
			s += "it did not exist"
		default:
			s += "it existed"
		}
	}
	if since := m.f.disk.nameSince(d, e); since > 0 && !m.exact {
		s += "; " + m.f.log.durableSince(since)
	}
	return s
}

// bind assigns inode i of the model to an observed node.
func (m *matcher) bind(i int, n *node) (undo func()) {
	theirs, was := m.files[i]
	ours, had := m.ours[n.Inode]
	m.files[i] = n.Inode
	if !m.f.tree.inodes[i].isPlaceholder() { // all of a snapshot share one number
		m.ours[n.Inode] = i
	}
	m.found[i]++
	return func() {
		m.found[i]--
		if m.files[i] = theirs; !was {
			delete(m.files, i)
		}
		if m.ours[n.Inode] = ours; !had {
			delete(m.ours, n.Inode)
		}
	}
}

// checkLinks reports whether each file has an allowed number of names. If rename is atomic, that is
// a number between the least and the greatest that it had since all its names are durable.
func (m *matcher) checkLinks() bool {
	if !m.f.promises.AtomicRename || m.moment >= 0 {
		return true
	}
	if m.names.tree == nil {
		m.names = m.f.tree.index()
	}
	for _, i := range slices.Sorted(maps.Keys(m.f.tree.inodes)) {
		n := m.f.tree.inodes[i]
		least, most := m.names.links(i, max(m.f.disk.meta, n.named))
		switch {
		case i == root:
		case m.found[i] < least:
			m.done++
			m.note(mismatchf("lost", "%s has lost all its names: %s", m.names.path(i), m.f.log.lastOf(n)))
			m.done--
			return false
		case m.found[i] > most:
			m.done++
			m.note(mismatchf("renamed", "%s has %d names, and never had more than %d: %s",
				m.names.path(i), m.found[i], most, m.f.log.lastOf(n)))
			m.done--
			return false
		}
	}
	return true
}
