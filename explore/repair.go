package explore

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"fsward/explore/agent"
)

// A Repairer is a Component with two ways to recover. The quick one, Recover, replays a journal.
// The thorough one, Repair, examines everything that the component holds. The explorer compares
// their results, as FiSC does (4.2, double fsck): if they differ, one of them is wrong.
type Repairer interface {
	Component
	Repairs() bool       // reports whether it has the thorough way
	Repair(e *Env) error // repairs it after a crash, instead of Recover
}

// repair recovers a component in the most thorough way that it has.
func repair(e *Env, c Component) error {
	if r, ok := c.(Repairer); ok && r.Repairs() {
		return r.Repair(e)
	}
	return c.Recover(e)
}

// maxDifferences bounds the differences that a failure lists.
const maxDifferences = 8

// differences returns the differences of two trees, one a line; "": there are none.
func differences(quick, thorough map[string]agent.Entry) string {
	paths := make(map[string]bool)
	for p := range quick {
		paths[p] = true
	}
	for p := range thorough {
		paths[p] = true
	}
	var out []string
	for _, p := range slices.Sorted(maps.Keys(paths)) {
		q, inQuick := quick[p]
		t, inThorough := thorough[p]
		if promised(q) == promised(t) && inQuick == inThorough {
			continue
		}
		if len(out) == maxDifferences {
			out = append(out, "and more")
			break
		}
		out = append(out, fmt.Sprintf("%s: after the quick recovery, %s; after the thorough one, %s",
			p, entryText(q, inQuick), entryText(t, inThorough)))
	}
	return strings.Join(out, "\n")
}

// promised returns an entry without the attributes that no repair promises: the inode's number, the
// space that a file takes, and the size of a directory, whose blocks fsck may free.
func promised(e agent.Entry) agent.Entry {
	e.Inode, e.Blocks = 0, 0
	if e.Mode&unix.S_IFMT == unix.S_IFDIR {
		e.Size = 0
	}
	return e
}

// entryText describes an entry of a tree.
func entryText(e agent.Entry, exists bool) string {
	if !exists {
		return "it does not exist"
	}
	if e.Errno != 0 {
		return fmt.Sprintf("it cannot be read (%v)", e.Errno)
	}
	text := fmt.Sprintf("it has mode %#o, %d links, owner %d:%d", e.Mode, e.Links, e.UID, e.GID)
	switch e.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		text += fmt.Sprintf(", %d bytes with SHA-256 %x…", e.Size, e.Sum[:4])
	case unix.S_IFLNK:
		text += fmt.Sprintf(", leads to %q", e.Target)
	}
	return text
}
