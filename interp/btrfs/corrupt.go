package btrfs

import (
	"bytes"
	"fmt"

	"fsward/interp"
	"fsward/interp/btrfs/ondisk"
	"fsward/interp/disk"
)

// corrupter alters the state of one superblock. It holds the blocks that may be altered.
type corrupter struct {
	disk   interp.Disk
	state  *state
	blocks []*ondisk.Node
}

// NewCorrupter reads the state that the superblock on a disk defines. With last, only what the last
// transaction wrote is altered. The errors are those of New.
func NewCorrupter(d interp.Disk, last bool) (interp.Corrupter, error) {
	f, err := New(d)
	if err != nil {
		return nil, err
	}
	s := f.base
	c := &corrupter{disk: d, state: s}
	oldest := uint64(0)
	if last {
		oldest = s.sb.Generation()
	}
	w := corruptWalk{corrupter: c, oldest: oldest, seen: make(map[uint64]bool), budget: newBudget()}
	if err := w.below(s.chunkRoot()); err != nil {
		return nil, baseline(err)
	}
	if err := w.below(s.rootTree()); err != nil {
		return nil, baseline(err)
	}
	if log, ok := logPointer(s.sb); ok {
		if err := w.below(log); err != nil {
			return nil, baseline(err)
		}
	}
	return c, nil
}

// corruptWalk collects the blocks of a state.
type corruptWalk struct {
	*corrupter
	oldest uint64          // generation of a block to be altered
	seen   map[uint64]bool // by logical address: snapshots share blocks
	budget *budget
}

func (w *corruptWalk) below(p pointer) error {
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
		case (n.Owner() == ondisk.RootTreeID || n.Owner() == ondisk.TreeLogID) && k.Type == ondisk.RootItemKey:
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

// Corrupt makes the change at the pick-th place that it fits.
func (c *corrupter) Corrupt(spec string, pick int) (interp.Corruption, error) {
	s, err := parseAlterSpec(spec)
	if err != nil {
		return interp.Corruption{}, err
	}
	if s.object.form == formSuper {
		return c.super(&s, pick)
	}
	for _, n := range c.blocks {
		var altered *ondisk.Node
		for slot := range s.slots(n) {
			if !s.fits(n, slot) {
				continue
			}
			if altered == nil {
				altered, _ = ondisk.NewNode(disk.NewRegion(bytes.Clone(n.Bytes()), n.Addr()))
			}
			text, ok := s.alter(altered, slot)
			if !ok { // and nothing has changed
				continue
			}
			if pick > 0 {
				pick--
				altered = nil
				continue
			}
			out := interp.Corruption{What: fmt.Sprintf("%s: %s", s.place(n, slot), text)}
			block := altered.Bytes()
			c.state.rules.csum.Seal(block)
			addrs, count, err := c.state.chunks.copies(n.Logical(), uint64(len(block)), ondisk.GroupMetadata|ondisk.GroupSystem)
			if err != nil {
				return interp.Corruption{}, err
			}
			for _, addr := range addrs[:count] {
				out.Patches = append(out.Patches, interp.Patch{Off: addr, Data: block})
			}
			return out, nil
		}
	}
	return interp.Corruption{}, fmt.Errorf("%s: %w", spec, interp.ErrNoPlace)
}

// super changes the superblocks of all devices, and their mirrors.
func (c *corrupter) super(s *alterSpec, pick int) (interp.Corruption, error) {
	var out interp.Corruption
	for _, dev := range c.state.devs.list {
		for _, off := range ondisk.SuperOffsets {
			if off+ondisk.SuperSize > dev.size {
				break
			}
			b, err := readSuper(c.disk, dev.start+off)
			if err != nil {
				return out, err
			}
			if ondisk.NewSuperblock(b).Generation() != c.state.sb.Generation() {
				continue // a mirror that is still to be written
			}
			text, ok := s.alterSuper(b[:])
			if !ok {
				continue
			}
			if out.What == "" {
				out.What = text
			}
			out.Patches = append(out.Patches, interp.Patch{Off: dev.start + off, Data: b[:]})
		}
	}
	if len(out.Patches) == 0 || pick > 0 {
		return out, fmt.Errorf("%s: %w", s.object.name, interp.ErrNoPlace)
	}
	return out, nil
}
