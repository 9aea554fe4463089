package spec

import (
	"fsward/explore"
	"fsward/explore/agent"
	"fsward/explore/component"
	"fsward/explore/crash"
	"fsward/explore/oracle"
)

// readCommitted returns the function that reads the last commit of a crash state, or nil: top is a
// file system that fsward does not read, or is not alone on one disk.
func readCommitted(stack explore.Stack, top *component.Component) explore.ReadCommitted {
	i, ok := oracleDisk(stack, top)
	if !ok {
		return nil
	}
	return func(s *crash.State) (*explore.CommittedTree, error) {
		c, err := oracle.ReadCommitted(s.Disk(i), top.Kind.Oracle)
		if err != nil {
			return nil, err
		}
		tree := &explore.CommittedTree{Commit: c.Commit, Entries: make(map[string]agent.Entry)}
		for _, f := range c.Entries {
			tree.Entries[f.Path] = agent.Entry{Path: f.Path, Mode: f.Mode, Links: f.Links, UID: f.UID,
				GID: f.GID, Size: f.Size, Inode: f.Inode}
		}
		if c.Logged {
			tree.Touched = c.Touches
		}
		return tree, nil
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
		sum, err := oracle.Recovered(s, i, top.Kind.Oracle)
		return sum.String(), err
	}
}
