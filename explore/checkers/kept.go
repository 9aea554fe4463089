package checkers

import (
	"maps"
	"path"
	"strings"

	"golang.org/x/sys/unix"

	"fsward/explore/agent"
	"fsward/explore/b3"
)

// kept has the objects of a workload that are persistent and did not change since, as they were.
type kept struct {
	entries map[string]agent.Entry // by path
	// last are all objects at the last persistence point, by path, and links their paths by inode.
	last  map[string]agent.Entry
	links map[uint64][]string
}

func newKept() *kept { return &kept{entries: make(map[string]agent.Entry)} }

// forget forgets an object that a step changes, with its other names, the directory in which it is,
// and what is below it.
func (k *kept) forget(name string) {
	delete(k.entries, name)
	delete(k.entries, path.Dir(name))
	was, is := k.last[name]
	if !is {
		return
	}
	for _, p := range k.links[was.Inode] {
		delete(k.entries, p)
	}
	if was.Mode&unix.S_IFMT == unix.S_IFDIR {
		maps.DeleteFunc(k.entries, func(p string, _ agent.Entry) bool {
			return strings.HasPrefix(p, name+"/")
		})
	}
}

// note notes all objects at a persistence point, and keeps those that it made persistent.
func (k *kept) note(s b3.Step, entries map[string]agent.Entry) {
	k.last, k.links = entries, make(map[uint64][]string, len(entries))
	for p, e := range entries {
		k.links[e.Inode] = append(k.links[e.Inode], p)
	}
	if s.Verb == b3.Sync {
		maps.Copy(k.entries, entries)
		return
	}
	if now, ok := entries[s.Name]; ok && s.Verb == b3.Fsync {
		k.entries[s.Name] = now
	}
}
