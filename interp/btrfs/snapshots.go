package btrfs

import (
	"slices"

	"fsward/change"
	"fsward/interp/btrfs/ondisk"
)

// snapshots finds the trees that new file trees are snapshots of. A new snapshot is compared with
// its source, as if a copy of the source had had the snapshot's number before. It then costs its
// own blocks, and not as much as its source has files. The source is sound, so its copy is sound,
// and only the differences have to be judged. Any sound tree would do: the choice decides what the
// comparison costs. See docs/decisions/0035.
type snapshots struct {
	roots  map[treeKey]*rootChange
	byUUID map[[ondisk.UUIDSize]byte]uint64
	// latest has, for each tree, the version that the next snapshot of it is compared with: the tree
	// itself in the new state, or its last snapshot. Snapshots that one transaction makes of a tree
	// thus differ from each other by what happened in between.
	latest map[uint64]*treeVersion
	origin map[uint64]uint64 // from a snapshot to its source
	// blocks are the new blocks of file trees that were checked. A snapshot shares the new blocks of
	// its source.
	blocks blockSet
	walked map[uint64]*treeVersion // of a whole image: all file trees so far
	// disordered: a file tree leads to a block of a tree with a higher number, so that it is no
	// source. See docs/decisions/0075.
	disordered bool
}

// newSnapshots returns nil if the new state has no new file tree.
func newSnapshots(keys []treeKey, roots map[treeKey]*rootChange, sector uint32) *snapshots {
	isNew := func(k treeKey) bool {
		c := roots[k]
		return ondisk.IsFileTree(k.id) && c != nil && c.old == nil && c.new != nil
	}
	if !slices.ContainsFunc(keys, isNew) {
		return nil
	}
	s := &snapshots{roots: roots, byUUID: make(map[[ondisk.UUIDSize]byte]uint64),
		latest: make(map[uint64]*treeVersion), origin: make(map[uint64]uint64),
		blocks: blockSet{uint64(sector), make(map[uint64]uint64)},
		walked: make(map[uint64]*treeVersion)}
	for _, k := range keys {
		c := roots[k]
		if !ondisk.IsFileTree(k.id) || c == nil {
			continue
		}
		// A snapshot changes last_snapshot of its source, so the source is among the changed roots.
		for _, r := range []*treeRoot{c.old, c.new} {
			if r == nil || r.uuid == [ondisk.UUIDSize]byte{} {
				continue
			}
			if _, taken := s.byUUID[r.uuid]; !taken {
				s.byUUID[r.uuid] = k.id
			}
		}
	}
	return s
}

// source returns the tree that a new tree is compared with, or nil if it is not a snapshot.
func (s *snapshots) source(d *diff, tree uint64, root *treeRoot) *treeVersion {
	// The root of a snapshot is always a new block (btrfs_copy_root).
	if s == nil || !ondisk.IsFileTree(tree) || root.generation <= d.old.sb.Generation() {
		return nil
	}
	from, ok := s.byUUID[root.parent]
	if !ok {
		if from, ok = d.new.ownerBelow(root.pointer); !ok {
			return nil
		}
	}
	if from == tree {
		return nil
	}
	v := s.latest[from]
	if v == nil {
		v = s.before(d, from)
	}
	if v != nil {
		s.origin[tree] = from
		c := change.Copy{Tree: tree, Of: v.tree, Before: v.state == d.old}
		d.out.txn.Copies = append(d.out.txn.Copies, c)
	}
	return v
}

// before returns a file tree in the old state, or nil if there is none. A tree that is being
// dropped was not checked when it changed, so it is no sound tree.
func (s *snapshots) before(d *diff, tree uint64) *treeVersion {
	if !ondisk.IsFileTree(tree) {
		return nil
	}
	var root treeRoot
	if c := s.roots[treeKey{id: tree}]; c != nil {
		if c.old == nil || c.old.dead {
			return nil
		}
		root = *c.old
	} else {
		var err error
		if root, err = d.old.readRoot(tree); err != nil || root.logical == 0 {
			return nil
		}
	}
	return &treeVersion{d.old, tree, root.pointer}
}

// ownerBelow returns the owner of the first block below a root: the source of a snapshot, or the
// source of that source. Kernels before 3.6 give subvolumes no uuid, and mkfs gave none to the top
// level.
func (s *state) ownerBelow(root pointer) (tree uint64, ok bool) {
	n, err := s.node(root, false)
	if err != nil || n.Level() == 0 {
		return 0, false // the comparison reports the error
	}
	child, err := s.node(childOf(n, 0, false), false)
	if err != nil {
		return 0, false
	}
	return child.Owner(), true
}

// compared notes that a tree was compared, so that snapshots of it can be compared with it.
func (s *snapshots) compared(v *treeVersion) {
	if s == nil || !ondisk.IsFileTree(v.tree) {
		return
	}
	s.latest[v.tree], s.walked[v.tree] = v, v
	if from, ok := s.origin[v.tree]; ok {
		s.latest[from] = v
	}
}

// checked reports whether a new block below the root of a tree was checked as part of another tree.
// If not, it notes that the block is checked now.
func (s *snapshots) checked(tree, logical uint64) bool {
	if s == nil || !ondisk.IsFileTree(tree) {
		return false
	}
	return s.blocks.add(logical)
}

// leadsTo notes that a tree leads to a block with an owner.
func (s *snapshots) leadsTo(tree, owner uint64) {
	if s != nil && ondisk.IsFileTree(tree) && ondisk.IsFileTree(owner) && owner > tree {
		s.disordered = true
	}
}
