package corrupt

import (
	"bytes"
	"fmt"

	"fsward/interp"
	"fsward/interp/btrfs"
	"fsward/interp/btrfs/ondisk"
	"fsward/interp/disk"
)

// A corrupter alters the state of one superblock. blocks are the blocks that it may alter.
type corrupter struct {
	state  *btrfs.Metadata
	blocks []*ondisk.Node
}

// NewCorrupter reads the state that the superblock on a disk defines. If last is set, the corrupter
// alters only blocks that the last transaction wrote. The errors are those of btrfs.New.
func NewCorrupter(d interp.Disk, last bool) (interp.Corrupter, error) {
	m, err := btrfs.OpenMetadata(d)
	if err != nil {
		return nil, err
	}
	oldest := uint64(0)
	if last {
		oldest = m.Superblock().Generation()
	}
	blocks, err := m.Blocks(oldest)
	if err != nil {
		return nil, err
	}
	return &corrupter{state: m, blocks: blocks}, nil
}

// Corrupt makes the change of a specification at the pick-th place that fits, counted from 0. The
// error wraps interp.ErrNoPlace if there are fewer places.
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
			if !ok { // altered is unchanged
				continue
			}
			if pick > 0 {
				pick--
				altered = nil
				continue
			}
			out := interp.Corruption{What: fmt.Sprintf("%s: %s", s.place(n, slot), text)}
			if err := c.seal(&out, n.Logical(), altered.Bytes()); err != nil {
				return interp.Corruption{}, err
			}
			return out, nil
		}
	}
	return interp.Corruption{}, fmt.Errorf("%s: %w", spec, interp.ErrNoPlace)
}

// CorruptAll makes the change at the first places that fit, at most limit of them.
func (c *corrupter) CorruptAll(spec string, limit int) (interp.Corruption, error) {
	s, err := parseAlterSpec(spec)
	if err != nil {
		return interp.Corruption{}, err
	}
	if s.object.form == formSuper {
		return c.super(&s, 0)
	}
	var out interp.Corruption
	made := 0
	for _, n := range c.blocks {
		altered, _ := ondisk.NewNode(disk.NewRegion(bytes.Clone(n.Bytes()), n.Addr()))
		before := made
		for slot := 0; slot < s.slots(altered) && made < limit; slot++ {
			if s.fits(altered, slot) {
				if _, ok := s.alter(altered, slot); ok {
					made++
				}
			}
		}
		if made > before {
			if err := c.seal(&out, n.Logical(), altered.Bytes()); err != nil {
				return out, err
			}
		}
	}
	if made == 0 {
		return out, fmt.Errorf("%s: %w", spec, interp.ErrNoPlace)
	}
	out.What = fmt.Sprintf("%s at %d places", spec, made)
	return out, nil
}

// seal computes the checksum of a block and adds its copies to a corruption.
func (c *corrupter) seal(out *interp.Corruption, logical uint64, block []byte) error {
	c.state.Superblock().CsumType().Seal(block)
	addrs, err := c.state.Copies(logical)
	for _, addr := range addrs {
		out.Patches = append(out.Patches, interp.Patch{Off: addr, Data: block})
	}
	return err
}

// super alters the superblocks of all devices, and their mirrors.
func (c *corrupter) super(s *alterSpec, pick int) (interp.Corruption, error) {
	var out interp.Corruption
	copies, err := c.state.Superblocks()
	if err != nil {
		return out, err
	}
	for _, at := range copies {
		block := at.Super.Bytes()[:]
		text, ok := s.alterSuper(block)
		if !ok {
			continue
		}
		if out.What == "" {
			out.What = text
		}
		out.Patches = append(out.Patches, interp.Patch{Off: at.Addr, Data: block})
	}
	if len(out.Patches) == 0 || pick > 0 {
		return out, fmt.Errorf("%s: %w", s.object.name, interp.ErrNoPlace)
	}
	return out, nil
}
