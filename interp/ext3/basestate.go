package ext3

import (
	"bytes"
	"errors"

	"fsward/change"
	"fsward/interp"
)

// A BaseState is an ext3 file system as a disk defines it that stays, its journal replayed. Its roles and its orphans need not
// be read anew for each state that is compared with it.
type BaseState struct {
	m     *mounted
	sb    []byte // as it is in its place
	size  uint64 // of the device, bytes
	names *change.Names
	most  int // roles

	maps []uint32 // indirect blocks of the journal: while they and its inode stay, so does its place
	last comparison
	next *mounted // the state compared last
}

var _ interp.BaseState = (*BaseState)(nil)

// NewBaseState reads a state as a baseline. The errors are those of New.
func NewBaseState(d interp.Disk) (interp.BaseState, error) {
	m, err := mount(d, d.Size())
	if err != nil {
		return nil, err
	}
	k := &BaseState{m: m, size: d.Size(), names: change.NewNames()}
	if k.sb, err = readSuper(d); err != nil {
		return nil, err
	}
	if err := m.readRoles(); err != nil {
		return nil, err
	}
	k.journalMaps()
	return k, nil
}

func (k *BaseState) journalMaps() {
	k.maps = k.maps[:0]
	for block, r := range k.m.roles {
		if r.ino == k.m.layout.geo.journalInum && r.level != roleDir && r.level != roleXattr {
			k.maps = append(k.maps, block)
		}
	}
}

// Compare reads the journal of a fork as recovery does, and compares what both states then define.
func (k *BaseState) Compare(f interp.CrashImage) (obs interp.Observation, err error) {
	k.last, k.next = comparison{}, nil
	next, err := k.mount(f)
	var bad *interp.CorruptError
	switch {
	case errors.As(err, &bad):
		obs.Point = interp.CommitPoint
		obs.Violations = append(obs.Violations, checkBaseline.at(bad.Addr, "%s", bad.Reason))
		return obs, nil
	case errors.Is(err, interp.ErrNotFound):
		obs.Point = interp.CommitPoint
		obs.Violations = append(obs.Violations, on(checkSuperblock.at(superOff, "there is none"), kindSuperblock, 0))
		return obs, nil
	case err != nil:
		return obs, err
	}
	rewritten, err := k.rewritten(f, next)
	if err != nil {
		return obs, err
	}
	k.next = next
	obs.Generation = uint64(next.seq)
	if len(rewritten) == 0 {
		return obs, nil
	}
	obs.Point = interp.CommitPoint
	k.names.Reset()
	k.last = k.compare(next, rewritten)
	k.last.conclude(&obs)
	return obs, nil
}

// mount is mount of a fork, where the journal is found again without a walk if it is where it was.
func (k *BaseState) mount(f interp.CrashImage) (*mounted, error) {
	sb, err := readSuper(f)
	if err != nil {
		return nil, err
	}
	// Mounting and unmounting change the superblock in place as no transaction does.
	if needsRecovery(sb) != needsRecovery(k.sb) || le32(sb, sMountTime) != le32(k.sb, sMountTime) {
		return nil, interp.ErrApart
	}
	geo, err := readGeometry(sb, k.size)
	if err != nil {
		return nil, err
	}
	m := &mounted{state: newState(f, geo, k.size), starts: make(map[uint32]uint32), most: k.most}
	if m.layout, err = readLayout(geo, m.state.block); err != nil {
		return nil, err
	}
	if geo.journalInum == 0 {
		m.idle = true
		return m, nil
	}
	if err := k.openJournal(f, m); err != nil {
		return nil, err
	}
	return m, m.begin(sb)
}

func (k *BaseState) openJournal(f interp.CrashImage, m *mounted) error {
	same := k.m.layout.geo.changedFrom(m.layout.geo) == "" && k.m.journal.runs != nil
	for i := 0; same && i < len(k.maps); i++ {
		same = f.Same(m.layout.geo.addr(k.maps[i]), uint64(m.layout.geo.blockSize))
	}
	if same {
		was, err := k.m.layout.inode(k.m.state, m.layout.geo.journalInum)
		if err != nil {
			return err
		}
		now, err := m.layout.inode(m.state, m.layout.geo.journalInum)
		if err != nil {
			return err
		}
		same = bytes.Equal(was, now)
	}
	if !same {
		return m.openJournal(k.size)
	}
	m.journal = k.m.journal
	m.journal.geo = m.layout.geo
	return m.readJournalSuper()
}

// rewritten returns the blocks whose contents may be metadata, before or after, and differ.
func (k *BaseState) rewritten(f interp.CrashImage, next *mounted) (map[uint32]bool, error) {
	geo := next.layout.geo
	bs := uint64(geo.blockSize)
	out := make(map[uint32]bool)
	look := func(block uint32) error {
		was, _ := k.m.state.place(block)
		now, copied := next.state.place(block)
		at := now.block
		if !copied {
			at = block
		}
		if _, had := k.m.state.place(block); had == copied && was.block == now.block && was.escaped == now.escaped && f.Same(geo.addr(at), bs) {
			return nil
		}
		old, err := k.m.state.block(block)
		if err != nil {
			return err
		}
		b, err := next.state.block(block)
		if err != nil {
			return err
		}
		if !bytes.Equal(old, b) {
			out[block] = true
		}
		return nil
	}
	for block := range k.m.state.copies {
		if err := look(block); err != nil {
			return nil, err
		}
	}
	for block := range next.state.copies {
		if _, done := k.m.state.copies[block]; done {
			continue
		}
		if err := look(block); err != nil {
			return nil, err
		}
	}
	// In their places, what has no copy in the journal and was metadata. What becomes metadata is found by what leads there.
	inPlace := func(block uint32) bool {
		if _, copied := next.state.copies[block]; copied {
			return false
		}
		return block == geo.superBlock() || k.m.metadata(block)
	}
	each := func(addr uint64, visit func(block uint32)) {
		for b := addr / bs; b*bs < addr+interp.CrashPage && b < next.state.blocks; b++ {
			visit(uint32(b))
		}
	}
	pages := f.Differing(func(addr uint64) (keep bool) {
		each(addr, func(block uint32) { keep = keep || inPlace(block) })
		return keep
	})
	for _, addr := range pages {
		var err error
		each(addr, func(block uint32) {
			if err == nil && inPlace(block) {
				err = look(block)
			}
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// compare makes the change records between the known state and another.
func (k *BaseState) compare(next *mounted, rewritten map[uint32]bool) (c comparison) {
	m := k.m
	c.layout = m.layout
	if next.layout.geo.grownFrom(m.layout.geo) {
		c.layout = next.layout
	}
	txn := &change.Txn{Schema: schema, Generation: uint64(next.seq), Names: k.names, Records: make([]change.Record, 0, m.expected)}
	c.delta = newDelta(m.layout, c.layout, k.size, m.state, next.state, m.roles, rewritten, txn)
	c.delta.wasOrphans, c.delta.leap = m.orphans, true
	if c.err = c.delta.run(); c.err == nil {
		c.err = m.roles.check(len(c.delta.newRole), m.most)
	}
	return c
}

// Follow takes over what the comparison found.
func (k *BaseState) Follow(d interp.Disk, _ []uint64) {
	if k.next == nil {
		return
	}
	was := k.m
	if k.last.delta != nil {
		was.follow(k.last.delta)
	}
	next := k.next
	next.roles, next.orphans, next.expected = was.roles, was.orphans, was.expected
	if k.last.layout == was.layout {
		next.layout = was.layout
	}
	next.state.dev = d
	next.state.forget()
	k.m, k.next, k.last = next, nil, comparison{}
	k.journalMaps()
}
