package b3

import (
	"maps"
	"path"
	"slices"
)

// Complete adds to a workload what it needs to run, right before the step that needs it: parent
// directories, files and their content, an attribute before removexattr, the removal of what is in
// the way, a close before rename and unlink, and before more than MaxOpen are open; and at its end
// it closes everything. It replaces named ranges by offsets and lengths. The same workload always
// becomes the same one.
//
// A rename of a directory into itself stays as it is, and fails when it runs.
//
// Where a step does not say it, a name is that of a directory if IsDirectory reports so.
func (w Workload) Complete() Workload {
	c := newCompleter()
	for _, s := range w {
		c.add(s)
	}
	return c.end()
}

// IsDirectory reports whether a path is the root, or its last part begins with a capital letter, as
// names of directories in workloads do.
func IsDirectory(name string) bool {
	first := path.Base(name)[0]
	return name == "/" || first >= 'A' && first <= 'Z'
}

// A completer follows what a workload does to an empty file system.
type completer struct {
	root *node // the root directory
	// orphans are open files that lost the name under which they are open, by this name.
	orphans map[string]*file
	open    []string // what was used last comes last
	out     Workload
}

type file struct {
	size   uint64          // bytes
	xattrs map[string]bool // Step.To of Setxattr
}

func (f *file) clone() *file { return &file{f.size, maps.Clone(f.xattrs)} }

func newCompleter() *completer {
	root := newDirectory()
	root.volume = true
	return &completer{root: root, orphans: make(map[string]*file)}
}

// end closes everything, and returns the completed workload.
func (c *completer) end() Workload {
	for _, name := range slices.Sorted(slices.Values(c.open)) {
		c.close(name)
	}
	return c.out
}

// add adds a step, and before it what it needs.
func (c *completer) add(s Step) {
	for _, name := range s.Names() {
		if c.orphans[name] != nil && !s.Verb.onOpenFile() {
			c.close(name)
		}
		c.parents(name)
	}
	switch s.Verb {
	case Creat, Mknod, Mkdir, Symlink, Subvolume:
		c.remove(s.Name)
	case Falloc, Truncate:
		c.filled(s.Name)
	case Clone:
		c.filled(s.Name)
		c.opened(s.To)
	case Write, Dwrite, Mmapwrite, Mmapstore, Msync, SyncFileRange:
		c.opened(s.Name)
		if s.Range.Where != "" && s.Range.Where != Append {
			c.filled(s.Name)
		}
	case Link:
		c.opened(s.Name)
		c.remove(s.To)
	case Unlink, Remove:
		c.exists(s.Name)
		c.close(s.Name)
	case Rename:
		c.beforeRename(s)
	case Exchange:
		c.beforeExchange(s)
	case Snapshot:
		c.beforeSnapshot(s)
	case DeleteSubvolume:
		c.beforeDelete(s.Name)
	case Removexattr:
		c.opened(s.Name)
		if n := c.root.find(s.Name); n != nil && n.file != nil && !n.file.xattrs[s.To] {
			c.add(Step{Verb: Setxattr, Name: s.Name, To: s.To})
		}
	case Chmod, Chattr, Setxattr, Fsync, Fdatasync, Orphan:
		c.opened(s.Name)
	case Open:
		c.opened(s.Name)
		return
	case Close:
		c.close(s.Name)
		return
	case Rmdir:
		c.directory(s.Name)
		c.empty(s.Name)
		c.close(s.Name)
	}
	c.put(s)
}

// directBlock is the size of the blocks at which direct writes begin, in bytes: Linux refuses those
// that do not begin at a sector (EINVAL). If a range depends on a size, the next block is taken.
const directBlock = 4096

// put appends a step that has what it needs, and follows its effect.
func (c *completer) put(s Step) {
	f := c.file(s.Name)
	if w := s.Range.Where; w != "" && f != nil {
		s.Range = Range{}
		s.Range.Off, s.Range.Len = w.in(f.size)
		if s.Verb == Dwrite {
			s.Range.Off = (s.Range.Off + directBlock - 1) / directBlock * directBlock
		}
	}
	if s.Verb == Creat || s.Verb == Open {
		c.makeRoom()
		c.use(s.Name)
	}
	c.out = append(c.out, s)
	if f != nil {
		f.follow(s)
	}
	c.follow(s, f)
}

// follow follows the effect of a step on the names. f is the file that it names; nil: none.
func (c *completer) follow(s Step, f *file) {
	switch s.Verb {
	case Creat, Mknod, Symlink:
		c.makeFile(s.Name)
	case Mkdir:
		c.set(s.Name, newDirectory())
	case Clone:
		if to := c.file(s.To); to != nil {
			to.size = max(to.size, s.Len+s.Range.Len)
		}
	case Link:
		if f != nil && !c.isApart(s.Name, s.To) {
			c.set(s.To, &node{file: f})
		}
	case Unlink, Remove, Orphan:
		if f == nil {
			break
		}
		if c.set(s.Name, nil); s.Verb == Orphan {
			c.orphans[s.Name] = f
		}
	case Subvolume:
		c.makeVolume(s.Name)
	case Snapshot:
		c.snapshot(s.Name, s.To)
	case Rmdir, DeleteSubvolume:
		c.set(s.Name, nil)
	case Rename:
		c.move(s.Name, s.To)
	case Exchange:
		c.swap(s.Name, s.To)
	}
}

// follow follows the effect of a step on the file that it names.
func (f *file) follow(s Step) {
	end := s.Range.Off + s.Range.Len
	switch s.Verb {
	case Write, Dwrite, Mmapwrite, Mmapstore:
		f.size = max(f.size, end)
	case Falloc:
		switch {
		case s.Mode == Insert && s.Range.Off < f.size:
			f.size += s.Range.Len
		case s.Mode == Collapse && end < f.size:
			f.size -= s.Range.Len
		case s.Mode != Insert && s.Mode != Collapse && !s.Mode.keepsSize():
			f.size = max(f.size, end)
		}
	case Truncate:
		f.size = s.Len
	case Setxattr, Removexattr:
		f.xattrs[s.To] = s.Verb == Setxattr
	}
}

// parents makes the directories in which a name is.
func (c *completer) parents(name string) {
	if dir := path.Dir(name); dir != "." && !c.root.find(dir).isDir() {
		c.parents(dir)
		c.directory(dir)
	}
}

// directory makes a directory if there is none.
func (c *completer) directory(name string) {
	if c.root.find(name).isDir() {
		return
	}
	c.remove(name)
	c.put(Step{Verb: Mkdir, Name: name})
}

// file returns the file that a step on an open file with a name changes; nil: it is none.
func (c *completer) file(name string) *file {
	if f := c.orphans[name]; f != nil {
		return f
	}
	if n := c.root.find(name); n != nil {
		return n.file
	}
	return nil
}

// exists makes a file or a directory if there is nothing. A file is open then.
func (c *completer) exists(name string) {
	switch {
	case c.file(name) != nil || c.root.find(name) != nil:
	case IsDirectory(name):
		c.directory(name)
	default:
		c.put(Step{Verb: Creat, Name: name})
	}
}

// filled opens a file, and writes to it if it is empty.
func (c *completer) filled(name string) {
	c.opened(name)
	if f := c.file(name); f != nil && f.size == 0 {
		c.put(Step{Verb: Write, Name: name, Range: Range{Where: Append}})
	}
}

// remove removes whatever has a name.
func (c *completer) remove(name string) {
	switch n := c.root.find(name); {
	case n == nil:
	case n.file != nil:
		c.close(name)
		c.put(Step{Verb: Unlink, Name: name})
	default:
		c.empty(name)
		c.close(name)
		c.put(Step{Verb: Rmdir, Name: name})
	}
}

// beforeRename makes what is renamed, closes it, and removes what the rename cannot replace.
func (c *completer) beforeRename(s Step) {
	c.exists(s.Name)
	c.closeBelow(s.Name)
	c.close(s.Name)
	c.close(s.To)
	switch from, to := c.root.find(s.Name).isDir(), c.root.find(s.To).isDir(); {
	case isInside(s.Name, s.To) || isInside(s.To, s.Name):
	case from != to || c.isVolume(s.To):
		c.remove(s.To)
	case from:
		c.empty(s.To)
	}
}

// beforeExchange makes both of what is exchanged, and closes it.
func (c *completer) beforeExchange(s Step) {
	c.exists(s.Name)
	c.exists(s.To)
	for _, name := range s.Names() {
		c.closeBelow(name)
	}
	for _, name := range s.Names() {
		c.close(name)
	}
}
