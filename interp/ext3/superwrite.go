package ext3

import (
	"bytes"
	"errors"

	"fsward/interp"
	"fsward/interp/ext3/ondisk"
)

// observeSuper judges a write over the primary superblock. It is not journaled: the kernel writes
// its counts and flags in place when the file system is mounted, synced and unmounted.
func (f *FS) observeSuper(w interp.Write, obs *interp.Observation) {
	sb, err := readSuper(PendingDevice{f.disk, w})
	if err != nil {
		obs.Unknown = err
		return
	}
	if bytes.Count(sb, []byte{0}) == len(sb) {
		obs.Note = "the superblock was erased: no file system any more"
		f.pending.super = &superChange{}
		return
	}
	geo, err := ondisk.ParseGeometry(sb, f.disk.Size())
	if err == nil && f.m == nil {
		if f.pending.disks, err = f.disk.find(geo); err != nil {
			obs.Unknown = err
			return
		}
	}
	var foreign *interp.UnsupportedError
	switch {
	case errors.Is(err, interp.ErrNotFound) && f.unmounted():
		obs.Note = "another content takes the place of the unmounted file system"
		f.pending.super = &superChange{}
	case errors.As(err, &foreign) && f.m == nil:
		obs.Unknown = err
	case err != nil:
		obs.Violations = append(obs.Violations, on(checkSuperblock.at(ondisk.SuperOff, "%v", err),
			ondisk.KindSuperblock, 0))
	case f.m != nil:
		f.observeMountedSuper(sb, geo, obs)
	case !geo.HasJournal():
		f.observeNoJournal(sb, geo, PendingDevice{f.disk, w}, obs)
	case ondisk.NeedsRecovery(sb):
		f.observeMount(PendingDevice{f.pending.disks, w}, obs)
	default:
		f.pending.super = &superChange{geo: geo}
	}
}

// unmounted reports whether the file system is not in use, so that the guest may make another one
// in its place. Not all mkfs programs erase the superblock before.
func (f *FS) unmounted() bool {
	if f.m != nil {
		return false
	}
	sb, err := readSuper(f.disk)
	return err == nil && (f.geo.HasJournal() || ondisk.MarksClean(sb))
}

// observeMountedSuper judges a superblock that is written in place while the file system is
// mounted.
func (f *FS) observeMountedSuper(sb []byte, geo *ondisk.Geometry, obs *interp.Observation) {
	inUse := ondisk.NeedsRecovery(sb)
	if geo.UUID != f.geo.UUID && !inUse {
		obs.Note = "another ext3 file system was made here: it is read when it is mounted"
		f.pending.super = &superChange{geo: geo}
		return
	}
	if changed := geo.ChangedFrom(f.geo); changed != "" {
		obs.Violations = append(obs.Violations, on(checkImmutable.at(ondisk.SuperOff, "%s", changed),
			ondisk.KindSuperblock, 0))
		return
	}
	if err := f.m.copyFault(sb, obs); err != nil {
		obs.Unknown = err
		return
	}
	if inUse {
		return
	}
	if err := f.m.cleanFaults(sb, obs); err != nil {
		obs.Unknown = err
		return
	}
	obs.Note = "unmounted: writes pass until it is mounted again"
	f.pending.super = &superChange{geo: f.geo}
}

// observeMount reads the baseline of a file system that is marked as in use.
func (f *FS) observeMount(dev PendingDevice, obs *interp.Observation) {
	m, err := f.attach(dev, f.disk.Size())
	var bad *interp.CorruptError
	switch {
	case errors.As(err, &bad):
		obs.Violations = append(obs.Violations, checkBaseline.at(bad.Addr, "%s", bad.Reason))
		return
	case err != nil:
		obs.Unknown = err
		return
	}
	obs.Note = "mounted; its present state is the baseline: " + m.describe()
	obs.Baseline = f.loose
	f.pending.super = &superChange{geo: m.Geo, m: m}
}

// cleanFaults checks the conditions for a file system that is marked clean. Wrong counts that do
// not change are no fault: e2fsck replays the journal, clears the mark, and only then corrects the
// counts.
func (m *Mounted) cleanFaults(sb []byte, obs *interp.Observation) error {
	block, p, found, err := m.lost(m.State.dev, m.Log.nextSeq)
	if err != nil {
		return err
	}
	if found {
		obs.Violations = append(obs.Violations, checkCleanJournal.at(m.Geo.Addr(block),
			"block %d is not as transaction %d committed it", block, p.Seq))
		return nil
	}
	before, err := readSuper(m.State.dev)
	if err != nil {
		return err
	}
	var blocks, inodes uint64
	for g := range m.Geo.Groups {
		desc, err := m.desc(g)
		if err != nil {
			return err
		}
		blocks += uint64(ondisk.GroupDescOf(desc).FreeBlocksCount())
		inodes += uint64(ondisk.GroupDescOf(desc).FreeInodesCount())
	}
	was, is := ondisk.SuperOf(before), ondisk.SuperOf(sb)
	for _, c := range []struct {
		name     string
		was, is  uint32
		inGroups uint64
	}{{"blocks", was.FreeBlocksCount(), is.FreeBlocksCount(), blocks}, {"inodes",
		was.FreeInodesCount(), is.FreeInodesCount(), inodes}} {
		if uint64(c.is) != c.inGroups && c.is != c.was {
			obs.Violations = append(obs.Violations, on(checkCleanCounts.at(ondisk.SuperOff,
				"the superblock counts %d free %s, the groups %d", c.is, c.name, c.inGroups),
				ondisk.KindSuperblock, 0))
		}
	}
	return nil
}
