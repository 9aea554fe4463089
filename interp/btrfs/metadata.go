package btrfs

import (
	"slices"

	"fsward/interp"
	"fsward/interp/btrfs/ondisk"
	"fsward/interp/disk"
)

// Metadata reads the metadata of the state that the newest superblock on a disk defines. Packages
// that alter metadata use it. It checks each block by itself, and no relations between blocks.
type Metadata struct {
	disk  interp.Disk
	state *state
}

// OpenMetadata reads the superblock and the chunks of the file system on a disk. The errors are
// those of NewDegraded.
func OpenMetadata(d interp.Disk) (*Metadata, error) {
	c := newComparer(d, interp.Limits{})
	devs, err := open(d, first(d))
	if err == nil {
		devs, err = c.degraded(devs)
	}
	if err != nil {
		return nil, err
	}
	s, err := c.attach(devs)
	if err != nil {
		return nil, err
	}
	return &Metadata{disk: d, state: s}, nil
}

// Superblock returns the superblock that defines the state.
func (m *Metadata) Superblock() ondisk.Superblock { return m.state.sb }

// Copies returns the device addresses of all copies of the metadata block at a logical address.
func (m *Metadata) Copies(logical uint64) ([]uint64, error) {
	size := uint64(m.state.rules.nodeSize)
	addrs, count, err := m.state.chunks.copies(logical, size, ondisk.GroupMetadata|ondisk.GroupSystem)
	return slices.Clone(addrs[:count]), err
}

// Check returns a view on the block at a device address. The error says why the block is not sound
// by itself, or that its header does not name the logical address.
func (m *Metadata) Check(block []byte, addr, logical uint64) (*ondisk.Node, error) {
	return checkNode(disk.NewRegion(block, addr), logical, m.state.rules)
}

// Blocks returns each metadata block of the trees and of the log once, in the order of the trees.
// It leaves out blocks of a generation before oldest, and the blocks below them.
func (m *Metadata) Blocks(oldest uint64) ([]*ondisk.Node, error) {
	w := blockWalk{state: m.state, oldest: oldest, seen: make(map[uint64]bool), budget: newBudget()}
	roots := []pointer{m.state.chunkRoot(), m.state.rootTree()}
	if log, ok := logPointer(m.state.sb); ok {
		roots = append(roots, log)
	}
	for _, root := range roots {
		if err := w.below(root); err != nil {
			return nil, baseline(err)
		}
	}
	return w.blocks, nil
}

// A SuperCopy is a copy of the superblock on one device.
type SuperCopy struct {
	Addr  uint64 // device address, bytes
	Super ondisk.Superblock
}

// Superblocks reads the copies of the superblock on all devices. It leaves out copies of another
// generation, which the file system has not written yet.
func (m *Metadata) Superblocks() ([]SuperCopy, error) {
	var found []SuperCopy
	for _, dev := range m.state.devs.list {
		for _, off := range ondisk.SuperOffsets {
			if off+ondisk.SuperSize > dev.size {
				break
			}
			sb, err := readSuper(m.disk, dev.start+off)
			if err != nil {
				return nil, err
			}
			if sb.Generation() == m.state.sb.Generation() {
				found = append(found, SuperCopy{dev.start + off, sb})
			}
		}
	}
	return found, nil
}

// A blockWalk collects the blocks of a state.
type blockWalk struct {
	state  *state
	oldest uint64          // generation
	seen   map[uint64]bool // by logical address: snapshots share blocks
	budget *budget
	blocks []*ondisk.Node
}

// below collects a block and all blocks below it.
func (w *blockWalk) below(p pointer) error {
	if p.generation < w.oldest || w.seen[p.logical] {
		return nil
	}
	w.seen[p.logical] = true
	if err := w.budget.node(); err != nil {
		return err
	}
	n, err := w.state.node(p, false)
	if err != nil {
		return err
	}
	w.blocks = append(w.blocks, n)
	for i := range n.NrItems() {
		k := n.Key(i)
		switch {
		case n.Level() > 0:
			err = w.below(childOf(n, i, p.chunkTree))
		case holdsRoots(n.Owner()) && k.Type == ondisk.RootItemKey:
			if root, ok := parseRoot(k.ObjectID, n.Item(i)); ok && !root.dropping {
				err = w.below(root.pointer)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// holdsRoots reports whether a tree has the root items of other trees.
func holdsRoots(tree uint64) bool { return tree == ondisk.RootTreeID || tree == ondisk.TreeLogID }
