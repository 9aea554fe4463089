package model

import (
	"fmt"
	"strings"
)

// A Symmetry finds lists of operations that differ in nothing but the names of files that are
// alike in the current tree, and in what a crash may leave of it.
type Symmetry struct {
	f     *FS
	graph *graph
	names map[location]int  // vertices
	rigid bool              // no two files are alike
	forms map[string]string // canonical form of the graph, by marked vertices
}

// Symmetry returns the symmetry of the current state. It is valid until the next operation.
func (f *FS) Symmetry() *Symmetry {
	g, names := f.labeler(true).graphWithNames()
	return &Symmetry{f: f, graph: g, names: names, rigid: g.rigid(), forms: make(map[string]string)}
}

// Key returns a text that is the same for two lists of operations that are alike: one becomes the
// other if files that are alike exchange their names.
func (s *Symmetry) Key(ops []Op) string {
	m := marking{s: s, numbers: make(map[string]int)}
	for i, o := range ops {
		if i > 0 {
			m.text.WriteByte(';')
		}
		if s.rigid {
			fmt.Fprintf(&m.text, "%v %o", o, o.Mode)
			continue
		}
		o.Path = m.number(o.Path)
		if o.Code != Symlink {
			o.To = m.number(o.To)
		}
		fmt.Fprintf(&m.text, "%v %o", o, o.Mode)
	}
	if s.rigid {
		return m.text.String()
	}
	marks := fmt.Sprint(m.vertices)
	form, is := s.forms[marks]
	if !is {
		form = string(s.graph.marked(m.vertices).canonical())
		s.forms[marks] = form
	}
	return form + m.text.String()
}

// marked returns the graph with other labels for some vertices, in their order.
func (g *graph) marked(vertices []int) *graph {
	labels := append([]string(nil), g.labels...)
	for i, v := range vertices {
		labels[v] += fmt.Sprintf(" mark %d", i)
	}
	return &graph{labels, g.edges}
}

// A marking replaces the paths of operations by numbers, and marks the vertices to which the paths
// refer.
type marking struct {
	s        *Symmetry
	text     strings.Builder
	numbers  map[string]int // by path
	vertices []int
}

// number returns the text that stands for a path: its number, in the order of first use. A path
// that does not exist has a number too, and its directory is marked.
func (m *marking) number(path string) string {
	if path == "" {
		return ""
	}
	n, is := m.numbers[path]
	if !is {
		n = len(m.numbers)
		m.numbers[path] = n
		w, errno := m.s.f.tree.parent(path)
		v, exists := m.s.names[w]
		switch {
		case errno != 0: // a path below a new one
		case exists:
			m.vertices = append(m.vertices, v)
		default:
			m.vertices = append(m.vertices, m.s.nameOf(w.dir))
		}
		if !exists {
			return fmt.Sprintf("new %d", n)
		}
	}
	return fmt.Sprint(n)
}

// nameOf returns the vertex of the name of a directory.
func (s *Symmetry) nameOf(dir int) int {
	if dir != root {
		up := s.f.tree.inodes[s.f.tree.inodes[dir].parent]
		for name, e := range up.names {
			if e.now() == dir {
				return s.names[location{s.f.tree.inodes[dir].parent, name}]
			}
		}
	}
	return s.names[location{dir: root}]
}
