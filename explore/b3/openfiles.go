package b3

import "slices"

// MaxOpen is the number of files and directories that a workload has open at once. Before one more
// is opened, that is closed which was used longest ago, and opened again when a step needs it.
const MaxOpen = 8

// maxOrphans is the number of open files without a name, which cannot be opened again. It leaves
// two for the steps that use others.
const maxOrphans = MaxOpen - 2

// use notes that a file or a directory is open, and used by the next step.
func (c *completer) use(name string) {
	if i := slices.Index(c.open, name); i >= 0 {
		c.open = slices.Delete(c.open, i, i+1)
	}
	c.open = append(c.open, name)
}

// makeRoom closes what was used longest ago, until one more can be opened.
func (c *completer) makeRoom() {
	for len(c.open) >= MaxOpen {
		c.close(c.open[max(0, slices.IndexFunc(c.open, func(name string) bool {
			return c.orphans[name] == nil
		}))])
	}
}

// opened opens a file or a directory. It makes it if there is nothing.
func (c *completer) opened(name string) {
	if c.exists(name); !slices.Contains(c.open, name) {
		c.put(Step{Verb: Open, Name: name})
	}
	c.use(name)
}

func (c *completer) close(name string) {
	if i := slices.Index(c.open, name); i >= 0 {
		c.open = slices.Delete(c.open, i, i+1)
		delete(c.orphans, name)
		c.out = append(c.out, Step{Verb: Close, Name: name})
	}
}

// nameless are the open files that have lost the name under which they are open.
type nameless map[string]bool

// follow follows what a step does to them.
func (n nameless) follow(s Step) {
	for _, name := range s.Names() {
		if !s.Verb.onOpenFile() || s.Verb == Close {
			delete(n, name)
		}
	}
	if s.Verb == Orphan {
		n[s.Name] = true
	}
}
