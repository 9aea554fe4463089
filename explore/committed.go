package explore

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"fsward/explore/agent"
	"fsward/explore/crash"
)

// A CommittedTree is the tree that a recovery must give: that of the last commit which a crash
// state holds whole. FiSC calls it the stable file system. It is known without the recovery, so
// that a recovery cannot lose a commit, even one that nobody asked for.
type CommittedTree struct {
	Commit  uint64                 // number of the commit
	Entries map[string]agent.Entry // by path; without times and contents of files
	// Touched reports whether a log beside the commit may change what a name leads to: text in the
	// directory with the inode dir leads to inode. nil: there is no log.
	Touched func(inode, dir uint64, text string) bool
}

// ReadCommitted returns the tree that the recovery of a crash state must give. An error means that
// the tree is not known.
type ReadCommitted func(s *crash.State) (*CommittedTree, error)

// Committed is the property of recoveries that give the tree of the last commit.
const Committed = "commits"

// committed returns the tree that the recovery of a crash state must give; nil: it is not known. A
// recovery that begins where a crash interrupted another one must give the same as that one.
func (x *explorer) committed(s *crash.State) *CommittedTree {
	if x.ReadCommitted == nil {
		return nil
	}
	for s.From() != nil {
		s = s.From()
	}
	tree, err := x.ReadCommitted(s)
	if err != nil {
		x.totals.CommitUnknown++
		return nil
	}
	x.totals.CommitKnown++
	return tree
}

// check returns a failure if a recovered tree is not that of the last commit.
func (c *CommittedTree) check(got map[string]agent.Entry) *Failure {
	if c == nil {
		return nil
	}
	text := c.differences(got)
	if text == "" {
		return nil
	}
	return &Failure{Kind: "commit lost", Property: Committed, Text: fmt.Sprintf(
		"the crash state holds commit %d whole, and the recovery gave another tree:\n%s",
		c.Commit, text)}
}

// differences returns the differences between the tree that a recovery must give and the one that
// it gave, one a line; "": there are none.
func (c *CommittedTree) differences(got map[string]agent.Entry) string {
	paths := make(map[string]bool) // whether a log may change what is there
	for _, tree := range []map[string]agent.Entry{c.Entries, got} {
		for p := range tree {
			paths[p] = paths[p] || c.uncertain(tree, p)
		}
	}
	var out []string
	for _, p := range slices.Sorted(maps.Keys(paths)) {
		want, inCommit := c.Entries[p]
		have, recovered := got[p]
		if paths[p] || inCommit && recovered && c.equal(want, have) {
			continue
		}
		if len(out) == maxDifferences {
			out = append(out, "and more")
			break
		}
		out = append(out, fmt.Sprintf("%s: by the commit, %s; after the recovery, %s",
			p, metadataText(want, inCommit), metadataText(have, recovered)))
	}
	return strings.Join(out, "\n")
}

// uncertain reports whether a log may change the entry of a tree at a path, or one above it.
func (c *CommittedTree) uncertain(tree map[string]agent.Entry, p string) bool {
	if c.Touched == nil {
		return false
	}
	for ; p != "."; p = path.Dir(p) {
		if c.Touched(tree[p].Inode, tree[path.Dir(p)].Inode, path.Base(p)) {
			return true
		}
	}
	return c.Touched(tree["."].Inode, 0, "")
}

// equal reports whether a recovered entry has what the commit says. A log may change the number of
// links of an inode that it does not contain.
func (c *CommittedTree) equal(want, have agent.Entry) bool {
	have.Rdev, have.Blocks, have.Target, have.Sum = 0, 0, "", want.Sum
	if c.Touched != nil {
		have.Links = want.Links
	}
	if want.Mode&unix.S_IFMT == unix.S_IFDIR {
		have.Size = want.Size // stat(2) of a Btrfs directory has another unit
	}
	return want == have
}

// metadataText describes an entry without its contents.
func metadataText(e agent.Entry, exists bool) string {
	if !exists || e.Errno != 0 {
		return entryText(e, exists)
	}
	text := fmt.Sprintf("it has inode %d, mode %#o, %d links, owner %d:%d",
		e.Inode, e.Mode, e.Links, e.UID, e.GID)
	if e.Mode&unix.S_IFMT != unix.S_IFDIR {
		text += fmt.Sprintf(", %d bytes", e.Size)
	}
	return text
}
