package ext3

import (
	"bytes"
	"errors"

	"fsward/change"
	"fsward/interp"
	"fsward/interp/ext3/ondisk"
)

// A BaseState is the ext3 file system on a disk after a replay of its journal. It does not write to
// the disk. It reads the roles and the orphans once, and not again for each state that is compared
// with it.
type BaseState struct {
	m         *Mounted
	sb        []byte // the superblock in its place
	size      uint64 // size of the device, bytes
	names     *change.Names
	roleLimit uint64 // bound on roles, bytes; 0: none

	// indirect blocks of the journal: while they and the journal's inode are unchanged, the journal
	// has not moved
	maps []uint32
	last comparison
	next *Mounted // the state that was compared last
}

var _ interp.BaseState = (*BaseState)(nil)

// NewBaseState reads the state on a disk as the base of comparisons. The errors are those of New.
func NewBaseState(d interp.Disk) (interp.BaseState, error) {
	m, err := Mount(d, d.Size())
	if err != nil {
		return nil, err
	}
	k := &BaseState{m: m, size: d.Size(), names: change.NewNames()}
	if k.sb, err = readSuper(d); err != nil {
		return nil, err
	}
	if err := m.ReadRoles(); err != nil {
		return nil, err
	}
	k.journalMaps()
	return k, nil
}

func (k *BaseState) journalMaps() {
	k.maps = k.maps[:0]
	for block, r := range k.m.Roles.All() {
		if r.Ino == k.m.Geo.JournalInum && r.Level != RoleDir && r.Level != RoleXattr {
			k.maps = append(k.maps, block)
		}
	}
}

// Compare replays the journal of a crash image in memory, as recovery does, and compares the state
// that results with the base state.
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
		obs.Violations = append(obs.Violations, on(checkSuperblock.at(ondisk.SuperOff, "there is none"),
			ondisk.KindSuperblock, 0))
		return obs, nil
	case err != nil:
		return obs, err
	}
	rewritten, err := k.rewritten(f, next)
	if err != nil {
		return obs, err
	}
	k.next = next
	obs.Generation = uint64(next.Log.nextSeq)
	if len(rewritten) == 0 {
		return obs, nil
	}
	obs.Point = interp.CommitPoint
	k.names.Reset()
	k.last = k.compare(next, rewritten)
	k.last.conclude(&obs)
	return obs, nil
}

// mount is Mount for a crash image. It finds the journal without reading its pointers if the
// journal has not moved.
func (k *BaseState) mount(f interp.CrashImage) (*Mounted, error) {
	sb, err := readSuper(f)
	if err != nil {
		return nil, err
	}
	// Mounting and unmounting change the superblock in place; no transaction does.
	if ondisk.NeedsRecovery(sb) != ondisk.NeedsRecovery(k.sb) ||
		ondisk.SuperOf(sb).Mtime() != ondisk.SuperOf(k.sb).Mtime() {
		return nil, interp.ErrApart
	}
	geo, err := ondisk.ParseGeometry(sb, k.size)
	if err != nil {
		return nil, err
	}
	m := &Mounted{Snapshot: Snapshot{State: NewState(f, geo, k.size)},
		Log: Log{starts: make(map[uint32]uint32)}, roleLimit: k.roleLimit}
	if m.Layout, err = readLayout(geo, m.State.Block); err != nil {
		return nil, err
	}
	if !geo.HasJournal() {
		m.Log.idle = true
		return m, nil
	}
	if err := k.openJournal(f, m); err != nil {
		return nil, err
	}
	return m, m.begin(sb)
}

func (k *BaseState) openJournal(f interp.CrashImage, m *Mounted) error {
	same := k.m.Geo.ChangedFrom(m.Geo) == "" && k.m.Log.Runs != nil
	for i := 0; same && i < len(k.maps); i++ {
		same = f.Same(m.Geo.Addr(k.maps[i]), uint64(m.Geo.BlockSize))
	}
	if same {
		was, err := k.m.Inode(m.Geo.JournalInum)
		if err != nil {
			return err
		}
		now, err := m.Inode(m.Geo.JournalInum)
		if err != nil {
			return err
		}
		same = bytes.Equal(was, now)
	}
	if !same {
		return m.openJournal(k.size)
	}
	m.Log.Journal = k.m.Log.Journal
	m.Log.Geo = m.Geo
	return m.readJournalSuper()
}

// compare makes the change records between the base state and another.
func (k *BaseState) compare(next *Mounted, rewritten map[uint32]bool) (c comparison) {
	m := k.m
	c.layout = m.Layout
	if next.Layout.Geo.GrownFrom(m.Geo) {
		c.layout = next.Layout
	}
	txn := &change.Txn{Schema: schema, Generation: uint64(next.Log.nextSeq), Names: k.names,
		Records: make([]change.Record, 0, m.expected)}
	c.delta = newDelta(m.Layout, c.layout, k.size, m.State, next.State, m.Roles, rewritten, txn)
	c.delta.orphans.was, c.delta.leap = m.Orphans, true
	if c.err = c.delta.run(); c.err == nil {
		c.err = m.Roles.check(len(c.delta.inodes.newRole), m.roleLimit)
	}
	return c
}

// Follow makes the state that was compared last the base state.
func (k *BaseState) Follow(d interp.Disk, _ []uint64) {
	if k.next == nil {
		return
	}
	was := k.m
	if k.last.delta != nil {
		was.follow(k.last.delta)
	}
	next := k.next
	next.Roles, next.Orphans, next.expected = was.Roles, was.Orphans, was.expected
	if k.last.layout == was.Layout {
		next.Layout = was.Layout
	}
	next.State.dev = d
	next.State.forget()
	k.m, k.next, k.last = next, nil, comparison{}
	k.journalMaps()
}
