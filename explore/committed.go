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
	Entries map[string]agent.Entry // by path; without times. Sum is set for the paths in Contents.
	// Contents has the paths of the files whose contents are known.
	Contents map[string]bool
	// Damage says, by path, why the contents of a file that the commit names are not on the disk.
	Damage map[string]string
	// Touched reports whether a log beside the commit may change what a name leads to: text in the
	// directory with the inode dir leads to inode. nil: there is no log.
	Touched func(inode, dir uint64, text string) bool
}

// ReadCommitted returns the tree that the recovery of a crash state must give. An error means that
// the tree is not known.
type ReadCommitted func(s *crash.State) (*CommittedTree, error)

// Committed is the property of recoveries that give the tree of the last commit.
const Committed = "commits"

// committed returns the tree that the recovery of a crash state must give, and counts it; nil: it
// is not known.
func (x *explorer) committed(s *crash.State) *CommittedTree {
	tree := x.ReadCommitted.last(s)
	x.totals.countCommitted(x.ReadCommitted, tree)
	return tree
}

// last returns the tree that the recovery of a crash state must give; nil: it is not known. A
// recovery that begins where a crash interrupted another one must give the same as that one.
func (read ReadCommitted) last(s *crash.State) *CommittedTree {
	if read == nil {
		return nil
	}
	for s.From() != nil {
		s = s.From()
	}
	tree, err := read(s)
	if err != nil {
		return nil
	}
	return tree
}

// countCommitted counts a comparison with the tree of the last commit; read is nil: there are none.
func (t *Totals) countCommitted(read ReadCommitted, tree *CommittedTree) {
	switch {
	case read == nil:
	case tree == nil:
		t.CommitUnknown++
	default:
		t.CommitKnown++
		t.countContents(tree)
	}
}

// countContents counts the files of a committed tree by what is compared of them.
func (t *Totals) countContents(tree *CommittedTree) {
	for p, e := range tree.Entries {
		switch {
		case tree.uncertain(tree.Entries, p):
			t.CommitLogged++
		case e.Mode&unix.S_IFMT != unix.S_IFREG:
		case tree.Contents[p] || tree.Damage[p] != "":
			t.CommitContents++
		default:
			t.CommitUnread++
		}
	}
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
		damage := c.Damage[p]
		if paths[p] || inCommit && recovered && damage == "" && c.equal(want, have) {
			continue
		}
		if len(out) == maxDifferences {
			out = append(out, "and more")
			break
		}
		line := fmt.Sprintf("%s: by the commit, %s; after the recovery, %s",
			p, c.text(want, inCommit), c.text(have, recovered))
		if damage != "" {
			line += "; before it, " + damage
		}
		out = append(out, line)
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
	have.Rdev, have.Blocks, have.Flags, have.Target = 0, 0, 0, ""
	if !c.Contents[want.Path] {
		have.Sum = want.Sum
	}
	if c.Touched != nil {
		have.Links = want.Links
	}
	if want.Mode&unix.S_IFMT == unix.S_IFDIR {
		have.Size = want.Size // stat(2) of a Btrfs directory has another unit
	}
	return want == have
}

// text describes an entry, with the sum of its contents if they are compared.
func (c *CommittedTree) text(e agent.Entry, exists bool) string {
	if !exists || e.Errno != 0 {
		return entryText(e, exists)
	}
	text := fmt.Sprintf("it has inode %d, mode %#o, %d links, owner %d:%d",
		e.Inode, e.Mode, e.Links, e.UID, e.GID)
	if e.Mode&unix.S_IFMT != unix.S_IFDIR {
		text += fmt.Sprintf(", %d bytes", e.Size)
	}
	if c.Contents[e.Path] {
		text += fmt.Sprintf(" with the sum %x", e.Sum[:4])
	}
	return text
}
