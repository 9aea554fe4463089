package b3

import (
	"path"
	"strings"
)

// isVolume reports whether a directory is the root directory of a subvolume.
func (c *completer) isVolume(name string) bool { return name == "/" || c.volumes[name] }

// volumeOf returns the subvolume in which the entry of a name is.
func (c *completer) volumeOf(name string) string {
	dir := path.Dir(name)
	for dir != "." && !c.isVolume(dir) {
		dir = path.Dir(dir)
	}
	if dir == "." {
		return "/"
	}
	return dir
}

// isApart reports whether a link or a rename would take something to another subvolume, which only
// the root directory of a subvolume can be.
func (c *completer) isApart(from, to string) bool {
	return c.volumeOf(from) != c.volumeOf(to) && !c.volumes[from]
}

// volume makes a subvolume if there is none, and removes the subvolumes in it: a snapshot has none
// of them, and a subvolume with others is not deleted.
func (c *completer) volume(name string) {
	if !c.isVolume(name) {
		c.remove(name)
		c.put(Step{Verb: Subvolume, Name: name})
	}
	for _, inside := range c.below(name) {
		if c.volumes[inside] {
			c.remove(inside)
		}
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
	for _, inside := range append(c.below(name), name) {
		c.close(inside)
	}
}

// snapshot follows a snapshot.
func (c *completer) snapshot(from, to string) {
	if c.dirs[to] || c.files[to] != nil {
		return // it fails
	}
	copies := make(map[*file]*file)
	for _, name := range c.below(from) {
		now := path.Join(to, strings.TrimPrefix(name, strings.TrimSuffix(from, "/")))
		f := c.files[name]
		switch {
		case f == nil:
			c.dirs[now] = true
			continue
		case copies[f] == nil:
			copies[f] = f.clone()
		}
		c.files[now] = copies[f]
	}
	c.dirs[to], c.volumes[to] = true, true
}

// forget follows the deletion of a subvolume.
func (c *completer) forget(name string) {
	for _, inside := range append(c.below(name), name) {
		delete(c.files, inside)
		delete(c.dirs, inside)
		delete(c.volumes, inside)
	}
}
