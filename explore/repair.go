package explore

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"fsward/explore/agent"
)

// A Repairer is a Component that can be recovered in two ways: the quick one, Recover, which replays a journal, and one that looks at all
// that it holds. FiSC holds what they come to against each other (4.2, double fsck): if they differ, one of them is wrong.
type Repairer interface {
	Component
	Repairs() bool       // it has the second way
	Repair(e *Env) error // repairs it after a crash, in the place of Recover
}

// repair recovers a component in the most thorough way that it has.
func repair(e *Env, c Component) error {
	if r, ok := c.(Repairer); ok && r.Repairs() {
		return r.Repair(e)
	}
	return c.Recover(e)
}

// maxDifferences bounds those that are listed.
const maxDifferences = 8

// differences lists in what two trees differ; "" where they do not.
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
		if q == t && inQuick == inThorough {
			continue
		}
		if len(out) == maxDifferences {
			out = append(out, "and more")
			break
		}
		out = append(out, fmt.Sprintf("%s: recovered quickly %s, thoroughly %s", p, entryText(q, inQuick), entryText(t, inThorough)))
	}
	return strings.Join(out, "\n")
}

func entryText(e agent.Entry, is bool) string {
	if !is {
		return "it is not there"
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
