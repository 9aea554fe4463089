package model

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
)

// Wrong is what is not as it has to be.
type Wrong struct {
	Kind string // in a word or two: "lost", "appeared", "contents", "size", …
	Text string // which file, what was expected, what is there
}

func (w *Wrong) Error() string { return w.Kind + ": " + w.Text }

func wrongf(kind, format string, args ...any) error {
	return &Wrong{kind, fmt.Sprintf(format, args...)}
}

// Equal holds a tree of a file system that is in use against f: all has to be the same but times, sizes of directories, and
// inode numbers, of which only counts which are the same. A *Wrong names the first difference. What Wants lists has to be known.
func (f *FS) Equal(s *Seen) error {
	if what := s.Unreadable(); what != "" {
		return &Wrong{"unreadable", what}
	}
	m := matcher{f: f, seen: s, exact: true, moment: f.now}
	return m.run()
}

// Allowed says whether a tree may be there when f crashed now and was recovered. A *Wrong names the first thing that was lost, or
// that was never so. What Wants lists has to be known. A name that leads to what cannot be read leads to nothing.
func (f *FS) Allowed(s *Seen) error {
	err := f.allowed(s)
	var w *Wrong
	if what := s.Unreadable(); what != "" && errors.As(err, &w) {
		return &Wrong{w.Kind, w.Text + "; " + what}
	}
	return err
}

func (f *FS) allowed(s *Seen) error {
	m := matcher{f: f, seen: s, moment: -1}
	if err := m.run(); err != nil || !f.can.Ordered {
		return err
	}
	var last error
	for _, moment := range f.disk.moments(&f.tree) {
		m := matcher{f: f, seen: s, moment: moment}
		err := m.run()
		if err == nil {
			return nil
		}
		if last == nil {
			last = err
		}
	}
	return wrongf("order", "each file may be as it is, but there was no moment at which all were so; as of the last operation: %v", last)
}

// matcher finds out which inode of the model each file is.
type matcher struct {
	f      *FS
	seen   *Seen
	exact  bool // as it is now
	moment int  // of the metadata; -1: of each for itself, any since it was on the disk

	files map[int]uint64 // inode numbers, ours and theirs
	ours  map[uint64]int
	found map[int]int // by inode: how many names lead to it
	steps int
	err   error // of the way that led the furthest
	far   int
	done  int // names that were looked at on this way
}

// maxSteps bounds the search. Names rarely led to more than two or three files since they were on the disk.
const maxSteps = 100_000

// task is a name to look at.
type task struct {
	dir  int
	name string
	path string // in seen
}

func (m *matcher) run() error {
	m.files, m.ours, m.found = make(map[int]uint64), make(map[uint64]int), make(map[int]int)
	top := m.seen.nodes["."]
	if err := m.fits(root, ".", top); err != nil {
		return err
	}
	m.bind(root, top)
	if m.solve(m.names(root, ".")) {
		return nil
	}
	if m.steps >= maxSteps {
		return wrongf("undecided", "which file is which was not found within %d steps; so far: %v", maxSteps, m.err)
	}
	return m.err
}

// names are the tasks of a directory.
func (m *matcher) names(d int, p string) (out []task) {
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

// candidates are the inodes that a name may lead to.
func (m *matcher) candidates(t task) []int {
	d := m.f.tree.inodes[t.dir]
	e := d.names[t.name]
	switch {
	case e == nil:
		return []int{0}
	case m.moment >= 0:
		return []int{e.history[max(0, e.at(m.moment))].what}
	}
	var out []int
	for _, v := range e.since(m.f.disk.nameSince(d, e)) {
		if !slices.Contains(out, v.what) {
			out = append(out, v.what)
		}
		if v.what != 0 && !m.f.disk.there(m.f.tree.inodes[v.what]) && !slices.Contains(out, 0) {
			out = append(out, 0)
		}
	}
	slices.Reverse(out) // the last one first: it is the likeliest
	return out
}

func (m *matcher) solve(todo []task) bool {
	if m.steps++; m.steps > maxSteps {
		return false
	}
	if len(todo) == 0 {
		return m.counts()
	}
	t, todo := todo[0], todo[1:]
	m.done++
	defer func() { m.done-- }()
	here := m.seen.nodes[t.path]
	for _, i := range m.candidates(t) {
		switch {
		case i == 0 && here == nil:
			if m.solve(todo) {
				return true
			}
			continue
		case here == nil:
			m.note(wrongf("lost", "/%s is gone: %s", t.path, m.history(t)))
			continue
		case i == 0:
			m.note(wrongf("appeared", "/%s is %v that may not be there: %s", t.path, here.kind(), m.history(t)))
			continue
		}
		if err := m.fits(i, t.path, here); err != nil {
			m.note(err)
			continue
		}
		undo := m.bind(i, here)
		next := todo
		if here.kind() == Dir {
			next = append(m.names(i, t.path), todo...)
		}
		if m.solve(next) {
			return true
		}
		undo()
	}
	return false
}

// note keeps the first error of the way that led the furthest.
func (m *matcher) note(err error) {
	if m.err == nil || m.done > m.far {
		m.err, m.far = err, m.done
	}
}

// history says how a name came to be what it is.
func (m *matcher) history(t task) string {
	d := m.f.tree.inodes[t.dir]
	e := d.names[t.name]
	if e == nil {
		return "no operation made it since all was last on the disk"
	}
	s := ""
	for _, v := range e.since(max(0, m.f.disk.nameSince(d, e))) {
		if s != "" {
			s += "; "
		}
		switch {
		case v.at > 0 && v.at <= len(m.f.log):
			s += fmt.Sprintf("operation %d was %v", v.at, m.f.log[v.at-1])
		case v.what == 0:
			s += "nothing was there"
		default:
			s += "it was there"
		}
	}
	if since := m.f.disk.nameSince(d, e); since > 0 && !m.exact {
		s += fmt.Sprintf("; on the disk since operation %d, %v", since, m.f.log[since-1])
	}
	return s
}

func (m *matcher) bind(i int, n *node) (undo func()) {
	theirs, was := m.files[i]
	ours, had := m.ours[n.Inode]
	m.files[i], m.ours[n.Inode] = n.Inode, i
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

// counts looks at how many names lead to each file, where a rename is atomic: no fewer than at any moment since all of them were on
// the disk, and no more.
func (m *matcher) counts() bool {
	if !m.f.can.AtomicRename || m.moment >= 0 {
		return true
	}
	for _, i := range slices.Sorted(maps.Keys(m.f.tree.inodes)) {
		n := m.f.tree.inodes[i]
		least, most := m.f.tree.links(i, max(m.f.disk.meta, n.named))
		switch {
		case i == root:
		case m.found[i] < least:
			m.done++
			m.note(wrongf("lost", "%s has none of its names: %s", m.f.tree.path(i), m.f.lastOf(n)))
			m.done--
			return false
		case m.found[i] > most:
			m.done++
			m.note(wrongf("renamed", "%s is there by %d names, and never had more than %d: %s", m.f.tree.path(i), m.found[i], most, m.f.lastOf(n)))
			m.done--
			return false
		}
	}
	return true
}

// lastOf names the operation that last changed an inode.
func (f *FS) lastOf(n *inode) string {
	if n.changed < 1 || n.changed > len(f.log) {
		return "it was there from the beginning"
	}
	return fmt.Sprintf("operation %d was %v", n.changed, f.log[n.changed-1])
}
