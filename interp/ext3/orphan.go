package ext3

import (
	"maps"
	"slices"

	"fsward/change"
)

// Inodes that are to be deleted or truncated are on a list: the superblock names the first, and i_dtime of
// each the next (ext4_orphan_add). After a crash the file system finishes with them.

// readOrphans goes along the list in a state. fault says why it ends early, "" if it does not.
func (l *layout) readOrphans(s *state) (list map[uint32]bool, fault string, err error) {
	sb, err := s.super()
	if err != nil {
		return nil, "", err
	}
	list = make(map[uint32]bool)
	for ino := le32(sb, sLastOrphan); ino != 0; {
		switch {
		case ino < l.geo.firstIno || ino > l.geo.inodes:
			return list, "the list names inode " + change.NumText(uint64(ino)), nil
		case list[ino]:
			return list, "the list comes back to inode " + change.NumText(uint64(ino)), nil
		}
		list[ino] = true
		i, err := l.inode(s, ino)
		if err != nil {
			return nil, "", err
		}
		ino = i.dtime()
	}
	return list, "", nil
}

// orphans compares the lists before and after: they differ only if the superblock or an inode on it changed.
func (d *delta) orphans() error {
	d.nowOrphans = d.wasOrphans
	changed := d.rewrote(d.geo.superBlock())
	for ino := range d.wasOrphans {
		changed = changed || d.inodes[ino]
	}
	if !changed {
		return nil
	}
	now, fault, err := d.readOrphans(d.new)
	if err != nil {
		return err
	}
	if fault != "" {
		d.fault(on(checkOrphans.at(superOff+sLastOrphan, "%s", fault), kindSuperblock, 0))
	}
	for _, ino := range slices.Sorted(maps.Keys(now)) {
		if !d.wasOrphans[ino] {
			d.txn.Add(change.Object{Kind: kindOrphan, ID: uint64(ino)})
		}
	}
	for _, ino := range slices.Sorted(maps.Keys(d.wasOrphans)) {
		if !now[ino] {
			d.txn.Delete(change.Object{Kind: kindOrphan, ID: uint64(ino)})
		}
	}
	d.nowOrphans = now
	return nil
}
