package explore

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"fsward/explore/agent"
	"fsward/explore/crash"
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

// repairs tells whether what a thorough recovery comes to can be held against what the quick one did.
func (s *session) repairs() bool {
	return s.verify && !strings.HasPrefix(s.stack.Top.Path(), "/dev/") && slices.ContainsFunc(s.stack.Components(), func(c Component) bool {
		r, ok := c.(Repairer)
		return ok && r.Repairs()
	})
}

// tree is what is mounted at the top of the stack, by path, without what no recovery promises: times and inode numbers. One that cannot
// be read at all is empty.
func (s *session) tree(e *Env) (map[string]agent.Entry, error) {
	r, err := e.Try(agent.Tree(s.stack.Top.Path()))
	if err != nil {
		return nil, err
	}
	entries, err := agent.DecodeTree(r[0].Data)
	if err != nil {
		return nil, err
	}
	out := make(map[string]agent.Entry, len(entries))
	for _, entry := range entries {
		entry.Inode, entry.Mtime = 0, 0
		if entry.Mode&unix.S_IFMT == unix.S_IFDIR {
			entry.Size = 0 // blocks that fsck may give back
		}
		out[entry.Path] = entry
	}
	return out, nil
}

// repaired recovers a crash disk in the thorough way, and says in what it differs from what the quick one has left.
func (s *session) repaired(ctx context.Context, disk *crash.State, quick map[string]agent.Entry) (*Failure, error) {
	if err := s.load(ctx, s.pages(disk)); err != nil {
		return nil, err
	}
	e := NewEnv(ctx, s.system, new(Chooser))
	e.frozen = true
	f := s.mount(e, repair)
	if f == nil && fatal(e) == nil {
		thorough, err := s.tree(e)
		if err == nil {
			if text := differences(quick, thorough); text != "" {
				err = Failuref("recoveries differ", "%s", text)
			}
		}
		f = s.judged(e, "unreadable", err)
	}
	if err := fatal(e); err != nil {
		return nil, err
	}
	g, err := s.unmount(ctx, false)
	if f == nil {
		f = g
	}
	return f, err
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
