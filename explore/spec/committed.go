package spec

import (
	"fsward/explore"
	"fsward/explore/agent"
	"fsward/explore/component"
	"fsward/explore/crash"
	"fsward/explore/model"
	"fsward/explore/oracle"
)

// readCommitted returns the function that reads the last commit of a crash state, or nil: top is a
// file system that fsward does not read, or is not alone on one disk.
func (r Run) readCommitted(
	stack explore.Stack, top *component.Component,
) explore.ReadCommitted {
	i, ok := oracleDisk(stack, top)
	if !ok {
		return nil
	}
	// ext3 commits although a write of data has failed (data_err=ignore of ext4(5)).
	ordered := r.MaxFaults == 0 &&
		(top.Kind.Oracle != "ext3" || top.Promises.Data == model.Versions)
	return func(s *crash.State) (*explore.CommittedTree, error) {
		disk := s.Disk(i)
		c, err := oracle.ReadCommitted(disk, top.Kind.Oracle)
		if err != nil {
			return nil, err
		}
		if ordered && !disk.Failed() {
			c.MarkUnwritten(disk, func() *oracle.Committed {
				before, err := oracle.ReadCommitted(disk.Before(), top.Kind.Oracle)
				if err != nil {
					return nil
				}
				return before
			})
		}
		return committedTree(c), nil
	}
}

// recoveredDisk returns the function that computes the disk which recovery makes of a crash state,
// or nil: see readCommitted.
func recoveredDisk(stack explore.Stack,
	top *component.Component) func(*crash.State) (string, error) {
	i, ok := oracleDisk(stack, top)
	if !ok || len(stack.Disks()) != 1 {
		return nil
	}
	return func(s *crash.State) (string, error) {
		return oracle.Recovered(s, i, top.Kind.Oracle)
	}
}

// committedTree returns files as a tree to compare with.
func committedTree(c *oracle.Committed) *explore.CommittedTree {
	tree := &explore.CommittedTree{Commit: c.Commit, Entries: make(map[string]agent.Entry),
		Contents: make(map[string]bool), Damage: make(map[string]string)}
	for _, f := range c.Entries {
		tree.Entries[f.Path] = agent.Entry{Path: f.Path, Mode: f.Mode, Links: f.Links, UID: f.UID,
			GID: f.GID, Size: f.Size, Inode: agent.InodeIn(f.Subvolume, f.Inode), Sum: f.Sum}
		// The agent makes no sum of agent.FillName.
		if f.Known && f.Path != agent.FillName {
			tree.Contents[f.Path] = true
		}
		if f.Damage != "" {
			tree.Damage[f.Path] = f.Damage
		}
	}
	if c.Logged {
		tree.Touched = func(inode, dir uint64, text string) bool {
			return c.Touches(agent.NumberOf(inode), agent.NumberOf(dir), text)
		}
	}
	return tree
}
