package checkers

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"fsward/explore/agent"
	"fsward/explore/b3"
)

// TestKept checks which objects a step makes the workload forget.
func TestKept(t *testing.T) {
	const file, dir = unix.S_IFREG, unix.S_IFDIR
	for name, want := range map[string]string{
		"foo":   "A A/B A/B/f A/foo Az h", // it has no other name
		"h":     "A A/B A/foo Az foo",     // A/B/f is its other name
		"A/foo": "A/B A/B/f Az foo h",
		"A":     "Az foo h",
		"A/B":   "A/foo Az foo h",
		"A/B/f": "A A/foo Az foo", // h is its other name
		"new":   "A A/B A/B/f A/foo Az foo h",
		"A/new": "A/B A/B/f A/foo Az foo h",
	} {
		k := newKept()
		k.note(b3.Step{Verb: b3.Sync}, map[string]agent.Entry{
			"A": {Mode: dir, Inode: 2}, "A/B": {Mode: dir, Inode: 3}, "A/B/f": {Mode: file, Inode: 4},
			"A/foo": {Mode: file, Inode: 5}, "Az": {Mode: file, Inode: 6}, "foo": {Mode: file, Inode: 7},
			"h": {Mode: file, Inode: 4},
		})
		k.forget(name)
		if got := strings.Join(slices.Sorted(maps.Keys(k.entries)), " "); got != want {
			t.Errorf("after a change of %s: %s, want %s", name, got, want)
		}
	}
}
