package ext3

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"

	"fsward/interp"
)

// A corrupter alters the state that a disk defines: where a block's contents are in the journal, they are altered there,
// and the checksums of the transaction are made right again.
type corrupter struct {
	survey
	disk    interp.Disk
	m       *mounted
	old     *state // before the last transaction; nil: nothing is known of it
	log     map[uint32][]logBlock
	blocks  []uint32 // that may be altered
	targets map[string][]target
}

// NewCorrupter reads the state of a disk. With last, only what the last transaction in the journal wrote is altered, and
// the journal's superblock. The errors are those of New.
func NewCorrupter(d interp.Disk, last bool) (interp.Corrupter, error) {
	m, err := mount(d, d.Size())
	if err != nil {
		return nil, err
	}
	if err := m.readRoles(); err != nil {
		return nil, err
	}
	c := &corrupter{disk: d, m: m, log: make(map[uint32][]logBlock), targets: make(map[string][]target)}
	c.survey = survey{layout: m.layout, state: m.state, orphans: m.orphans, role: func(block uint32, _ []byte) (role, bool) {
		r, ok := m.roles[block]
		return r, ok
	}}
	if c.use, err = m.layout.usesOf(m.state, m.roles); err != nil {
		return nil, err
	}
	seqs := slices.SortedFunc(maps.Keys(m.starts), func(a, b uint32) int { return cmp.Compare(int32(a-b), 0) })
	for _, seq := range seqs {
		if c.log[seq], err = m.journal.logBlocks(d, m.starts[seq], seq); err != nil {
			return nil, err
		}
	}
	if !last {
		if c.links, err = m.layout.linkBlocks(m.state); err != nil {
			return nil, err
		}
		c.blocks = slices.Sorted(maps.Keys(c.links))
		c.blocks = append(c.blocks, m.metadataBlocks()...)
		return c, nil
	}
	if len(seqs) == 0 {
		return nil, fmt.Errorf("ext3: the journal holds no transaction: %w", interp.ErrNoPlace)
	}
	return c, c.narrow(seqs)
}

// narrow leaves what the last transaction wrote, and reads the state before it.
func (c *corrupter) narrow(seqs []uint32) error {
	c.old = newState(c.disk, c.geo, c.disk.Size())
	for _, seq := range seqs {
		t, err := c.m.journal.read(c.disk, c.m.starts[seq], seq)
		if err != nil {
			return err
		}
		if seq != seqs[len(seqs)-1] {
			for b := range t.revoked {
				delete(c.old.copies, b)
			}
			maps.Copy(c.old.copies, t.copies)
			delete(c.log, seq)
			continue
		}
		c.blocks = slices.Sorted(maps.Keys(t.copies))
	}
	return nil
}

// metadataBlocks lists all blocks that are interpreted.
func (m *mounted) metadataBlocks() []uint32 {
	l := m.layout
	list := []uint32{l.geo.superBlock()}
	for i := range l.geo.descBlocks {
		list = append(list, l.geo.descBlock(i))
	}
	for _, p := range l.places {
		list = append(list, p.blockBitmap, p.inodeBitmap)
		for k := range l.geo.tableBlocks {
			list = append(list, p.inodeTable+k)
		}
	}
	for block := range m.roles {
		list = append(list, block)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// find lists the objects of one kind.
func (c *corrupter) find(object string) ([]target, error) {
	if list, ok := c.targets[object]; ok {
		return list, nil
	}
	var list []target
	keep := func(t target) {
		if t.object.name == object {
			list = append(list, t)
		}
	}
	for _, block := range c.blocks {
		b, err := c.state.block(block)
		if err != nil {
			return nil, err
		}
		if err := c.block(block, b, keep); err != nil {
			return nil, err
		}
	}
	if c.geo.journalInum != 0 {
		keep(target{object: findAlterable(objJournal), site: site{true, 0}, n: jSuperLen})
	}
	for _, seq := range slices.Sorted(maps.Keys(c.log)) {
		logTargets(c.log[seq], keep)
	}
	c.targets[object] = list
	return list, nil
}

// load returns a copy of what a site has.
func (c *corrupter) load(p site) ([]byte, error) {
	if p.log {
		return readBlock(c.disk, c.geo, c.m.journal.block(p.block))
	}
	b, err := c.state.block(p.block)
	return bytes.Clone(b), err
}

// Corrupt makes the change at the pick-th place that it fits.
func (c *corrupter) Corrupt(spec string, pick int) (interp.Corruption, error) {
	s, err := parseAlterSpec(spec)
	if err != nil {
		return interp.Corruption{}, err
	}
	list, err := c.find(s.object.name)
	if err != nil {
		return interp.Corruption{}, err
	}
	for i, t := range list {
		if !s.fits(t) {
			continue
		}
		d := &draft{sites: make(map[site][]byte), load: c.load, ts: list, others: c.find, layout: c.layout, before: c.before}
		text, ok, err := d.apply(&s, i)
		if err != nil {
			return interp.Corruption{}, err
		}
		if !ok {
			continue
		}
		if pick > 0 {
			pick--
			continue
		}
		patches, err := c.patches(d, s.member.sum)
		return interp.Corruption{What: text, Patches: patches}, err
	}
	return interp.Corruption{}, fmt.Errorf("%s: %w", spec, interp.ErrNoPlace)
}

// before returns what a block had before the last transaction.
func (c *corrupter) before(block uint32) ([]byte, bool) {
	if c.old == nil {
		return nil, false
	}
	b, err := c.old.block(block)
	return b, err == nil
}

var errEscape = errors.New("ext3: the altered block would begin like one of the journal's own")

// patches returns what the disk is to hold. unsealed: checksums are left as they are.
func (c *corrupter) patches(d *draft, unsealed bool) ([]interp.Patch, error) {
	out := make(map[uint32][]byte) // by block of the device
	inLog := make(map[uint32]bool) // transactions
	for p, b := range d.sites {
		switch at, copied := c.state.place(p.block); {
		case p.log && p.block == 0:
			if out[c.m.journal.block(0)] = b; !unsealed {
				c.m.journal.sealSuper(b)
			}
		case p.log:
			out[c.m.journal.block(p.block)] = b
			for seq, log := range c.log {
				if slices.ContainsFunc(log, func(l logBlock) bool { return l.at == p.block }) {
					inLog[seq] = true
				}
			}
		case !copied:
			out[p.block] = b
		default:
			if (be32(b, 0) == journalMagic) != at.escaped {
				return nil, errEscape
			}
			if at.escaped {
				binary.BigEndian.PutUint32(b, 0)
			}
			out[at.block], inLog[at.seq] = b, true
		}
	}
	if j := &c.m.journal; !unsealed && (j.csum != 0 || j.checksum) {
		for _, seq := range slices.Sorted(maps.Keys(inLog)) {
			err := j.seal(c.log[seq], func(at uint32) ([]byte, error) {
				n := j.block(at)
				if out[n] == nil {
					b, err := readBlock(c.disk, c.geo, n)
					if err != nil {
						return nil, err
					}
					out[n] = b
				}
				return out[n], nil
			})
			if err != nil {
				return nil, err
			}
		}
	}
	var list []interp.Patch
	for _, n := range slices.Sorted(maps.Keys(out)) {
		was, err := readBlock(c.disk, c.geo, n)
		if err != nil {
			return nil, err
		}
		if !bytes.Equal(was, out[n]) {
			list = append(list, interp.Patch{Off: c.geo.addr(n), Data: out[n]})
		}
	}
	return list, nil
}
