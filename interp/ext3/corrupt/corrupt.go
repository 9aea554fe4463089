package corrupt

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"

	"fsward/interp"
	"fsward/interp/ext3"
	"fsward/interp/ext3/ondisk"
)

// A corrupter alters the state on a disk. If the journal has the present contents of a block, it
// alters the copy in the journal, and updates the checksums of the transaction.
type corrupter struct {
	survey
	disk    interp.Disk
	m       *ext3.Mounted
	old     *ext3.State // state before the last transaction; nil: unknown
	log     map[uint32][]logBlock
	blocks  []uint32 // blocks that may be altered
	targets map[string][]target
}

// NewCorrupter reads the state of a disk. With last, the corrupter alters only blocks of the last
// transaction in the journal, and the journal's superblock. The errors are those of New.
func NewCorrupter(d interp.Disk, last bool) (interp.Corrupter, error) {
	m, err := ext3.Mount(d, d.Size())
	if err != nil {
		return nil, err
	}
	if err := m.ReadRoles(); err != nil {
		return nil, err
	}
	c := &corrupter{disk: d, m: m, log: make(map[uint32][]logBlock),
		targets: make(map[string][]target)}
	c.survey = survey{Snapshot: m.Snapshot, orphans: m.Orphans, role: func(block uint32,
		_ []byte) (ext3.Role, bool) {
		r, ok := m.Roles.Get(block)
		return r, ok
	}}
	uses, err := readUsage(m.Snapshot, m.Roles)
	if err != nil {
		return nil, err
	}
	c.use = uses.of
	entries := m.Log.Entries()
	for _, e := range entries {
		if c.log[e.Seq], err = logBlocks(&m.Log.Journal, d, e); err != nil {
			return nil, err
		}
	}
	if !last {
		if c.links, err = linkBlocks(m.Snapshot); err != nil {
			return nil, err
		}
		c.blocks = slices.Sorted(maps.Keys(c.links))
		c.blocks = append(c.blocks, m.MetadataBlocks()...)
		return c, nil
	}
	if len(entries) == 0 {
		return nil, fmt.Errorf("ext3: the journal holds no transaction: %w", interp.ErrNoPlace)
	}
	return c, c.narrow(entries)
}

// narrow limits the corrupter to the blocks of the last transaction, and reads the state before it.
func (c *corrupter) narrow(entries []ext3.LogEntry) error {
	c.old = ext3.NewState(c.disk, c.Geo, c.disk.Size())
	for n, e := range entries {
		t, err := c.m.Log.Read(c.disk, e.Start, e.Seq)
		if err != nil {
			return err
		}
		if n+1 < len(entries) {
			t.Apply(c.old.Copies)
			delete(c.log, e.Seq)
			continue
		}
		c.blocks = slices.Sorted(maps.Keys(t.Copies))
	}
	return nil
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
		b, err := c.Block(block)
		if err != nil {
			return nil, err
		}
		if err := c.survey.block(block, b, keep); err != nil {
			return nil, err
		}
	}
	if c.Geo.HasJournal() {
		keep(target{object: findAlterable(objJournal), site: site{true, 0}, n: ondisk.JournalSuperLen})
	}
	for _, seq := range slices.Sorted(maps.Keys(c.log)) {
		logTargets(c.log[seq], keep)
	}
	c.targets[object] = list
	return list, nil
}

// load returns a copy of the contents of a site.
func (c *corrupter) load(p site) ([]byte, error) {
	if p.log {
		return ext3.ReadBlock(c.disk, c.Geo, c.m.Log.Block(p.block))
	}
	b, err := c.Block(p.block)
	return bytes.Clone(b), err
}

// Corrupt makes the change at the pick-th place where it is possible, counted from 0.
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
		d := c.draft(list)
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
		patches, err := c.patches(d, unsealed(s.member))
		return interp.Corruption{What: text, Patches: patches}, err
	}
	return interp.Corruption{}, fmt.Errorf("%s: %w", spec, interp.ErrNoPlace)
}

// CorruptAll makes the change at the first places where it is possible, at most limit of them.
func (c *corrupter) CorruptAll(spec string, limit int) (interp.Corruption, error) {
	s, err := parseAlterSpec(spec)
	if err != nil {
		return interp.Corruption{}, err
	}
	list, err := c.find(s.object.name)
	if err != nil {
		return interp.Corruption{}, err
	}
	d, made := c.draft(list), 0
	for i, t := range list {
		if made == limit {
			break
		}
		if !s.fits(t) {
			continue
		}
		_, ok, err := d.apply(&s, i)
		if err != nil {
			return interp.Corruption{}, err
		}
		if ok {
			made++
		}
	}
	if made == 0 {
		return interp.Corruption{}, fmt.Errorf("%s: %w", spec, interp.ErrNoPlace)
	}
	patches, err := c.patches(d, unsealed(s.member))
	return interp.Corruption{What: fmt.Sprintf("%s at %d places", spec, made), Patches: patches}, err
}

// draft returns a draft of changes to the objects of one kind.
func (c *corrupter) draft(list []target) *draft {
	return &draft{sites: make(map[site][]byte), load: c.load, ts: list, others: c.find,
		layout: c.Layout, before: c.before}
}

// before returns the contents of a block before the last transaction.
func (c *corrupter) before(block uint32) ([]byte, bool) {
	if c.old == nil {
		return nil, false
	}
	b, err := c.old.Block(block)
	return b, err == nil
}

var errEscape = errors.New("ext3: the altered block would begin like one of the journal's own")

// patches returns the changes to the disk. unsealed means that checksums are not updated.
func (c *corrupter) patches(d *draft, unsealed bool) ([]interp.Patch, error) {
	out := make(map[uint32][]byte) // by block of the device
	inLog := make(map[uint32]bool) // transactions
	for p, b := range d.sites {
		switch at, copied := c.Place(p.block); {
		case p.log && p.block == 0:
			if out[c.m.Log.Block(0)] = b; !unsealed {
				c.m.Log.SealSuper(b)
			}
		case p.log:
			out[c.m.Log.Block(p.block)] = b
			for seq, log := range c.log {
				if slices.ContainsFunc(log, func(l logBlock) bool { return l.at == p.block }) {
					inLog[seq] = true
				}
			}
		case !copied:
			out[p.block] = b
		default:
			if (ondisk.JournalHeaderOf(b).Magic() == ondisk.JournalMagic) != at.Escaped {
				return nil, errEscape
			}
			if at.Escaped {
				binary.BigEndian.PutUint32(b, 0)
			}
			out[at.Block], inLog[at.Seq] = b, true
		}
	}
	if j := &c.m.Log.Journal; !unsealed && (j.CsumVersion != 0 || j.Checksum) {
		for _, seq := range slices.Sorted(maps.Keys(inLog)) {
			err := seal(j, c.log[seq], func(at uint32) ([]byte, error) {
				n := j.Block(at)
				if out[n] == nil {
					b, err := ext3.ReadBlock(c.disk, c.Geo, n)
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
		was, err := ext3.ReadBlock(c.disk, c.Geo, n)
		if err != nil {
			return nil, err
		}
		if !bytes.Equal(was, out[n]) {
			list = append(list, interp.Patch{Off: c.Geo.Addr(n), Data: out[n]})
		}
	}
	return list, nil
}
