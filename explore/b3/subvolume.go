package b3

import (
	"path"
	"strings"
)

// isVolume reports whether a directory is the root directory of a subvolume.
func (c *completer) isVolume(name string) bool {
	n := c.root.find(name)
	return n != nil && n.volume
}

// makeVolume makes a path stand for a new subvolume.
func (c *completer) makeVolume(name string) {
	n := newDirectory()
	n.volume = true
	c.set(name, n)
}

// volumeOf returns the root directory of the subvolume in which the entry of a name is.
func (c *completer) volumeOf(name string) *node {
	in, n := c.root, c.root
	for part := range strings.SplitSeq(path.Dir(name), "/") {
		if n = n.entries[part]; n == nil {
			break
		}
		if n.volume {
			in = n
		}
	}
	return in
}

// isApart reports whether a link or a rename would take something to another subvolume, which only
// the root directory of a subvolume can be.
func (c *completer) isApart(from, to string) bool {
	return c.volumeOf(from) != c.volumeOf(to) && !c.isVolume(from)
}

// volume makes a subvolume if there is none, and removes the subvolumes in it: a snapshot has none
// of them, and a subvolume with others is not deleted.
func (c *completer) volume(name string) {
	if !c.isVolume(name) {
		c.remove(name)
		c.put(Step{Verb: Subvolume, Name: name})
	}
	for _, inside := range c.root.find(name).volumes(name) {
		c.remove(inside)
	}
}

// beforeSnapshot makes the subvolume, and removes what has the name of the snapshot.
func (c *completer) beforeSnapshot(s Step) {
	if s.Name == s.To || isInside(s.Name, s.To) {
		return // it fails
	}
	c.remove(s.To)
	c.volume(s.Name)
	c.parents(s.To) // they may have been in a subvolume that is removed
}

// beforeDelete makes the subvolume, and closes what is in it.
func (c *completer) beforeDelete(name string) {
	c.volume(name)
	c.closeBelow(name)
	c.close(name)
}

// snapshot follows a snapshot.
func (c *completer) snapshot(from, to string) {
	n := c.root.find(from)
	if n == nil || c.root.find(to) != nil {
		return // it fails
	}
	n = n.copied(make(map[*file]*file))
	n.volume = true
	c.set(to, n)
}
