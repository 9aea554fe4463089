package ext3

import (
	"errors"

	"fsward/change"
	"fsward/interp"
)

// A transaction can make another layout: of a file system that grows, or gets another UUID (EXT4_IOC_SETFSUUID).
//
// A file system grows while it is mounted (resize2fs, ext4_resize_fs): the last group gets longer, groups
// are added, and descriptors take blocks that the resize inode held for them. The commit that brings the
// superblock with the new size is the one in which the new blocks, inodes and groups appear.

// grown returns the layout that a transaction makes, the same as before if the file system stays as it is.
// A superblock that is damaged or changed otherwise is told of where it is compared.
func (m *mounted) grown(after *state, t *transaction, device uint64) (*layout, *change.Violation, error) {
	if _, ok := t.copies[m.layout.geo.superBlock()]; !ok {
		return m.layout, nil, nil
	}
	sb, err := after.super()
	if err != nil {
		return nil, nil, err
	}
	geo, err := readGeometry(sb, device)
	if err == nil && geo.grownFrom(m.layout.geo) {
		l, err := readLayout(geo, after.block)
		var bad *interp.CorruptError
		if errors.As(err, &bad) {
			v := checkGroup.at(bad.Addr, "%s", bad.Reason)
			return nil, &v, nil
		}
		return l, nil, err
	}
	if err == nil && geo.renamedFrom(m.layout.geo) {
		l := *m.layout
		l.geo = geo
		return &l, nil, nil
	}
	return m.layout, nil, nil
}

// superCopy checks the first copy of the superblock where a transaction writes it, or gives the file system another UUID: e2fsck
// compares the UUID with the first copy's (check_backup_super_block), and Linux writes both at once (ext4_update_superblocks_fn).
// How large the file system is comes to the copies later (update_backups).
func (d *delta) superCopy() error {
	g := uint32(1)
	for g < d.geo.groups && !d.geo.hasSuper(g) {
		g++
	}
	if block := d.geo.groupStart(g); d.image == nil && g < d.was.geo.groups && (d.rewrote(block) || d.geo.uuid != d.was.geo.uuid) {
		b, err := d.new.block(block)
		if err != nil {
			return err
		}
		if uuid := [uuidLen]byte(b[sUUID:]); le16(b, sMagic) != superMagic || uuid != d.geo.uuid {
			d.fault(on(checkSuperblock.at(d.geo.addr(block), "the first copy of the superblock has the UUID %x, want %x", uuid, d.geo.uuid), kindSuperblock, 0))
		}
	}
	return nil
}

// become takes the layout that a transaction made.
func (m *mounted) become(l *layout) {
	m.layout, m.state.geo, m.journal.geo = l, l.geo, l.geo
}

// fixedOwners makes the records of the blocks of a group that begin to belong to the file system itself.
func (d *delta) fixedOwners(g uint32, p places) (err error) {
	add := func(first, n uint32) {
		for b := first; b < first+n && err == nil; b++ {
			err = d.owner(change.Object{Kind: kindOwner, ID: uint64(b)})
		}
	}
	start, head := d.geo.groupStart(g), d.geo.headBlocks(g)
	if !d.fresh(g) {
		if had := d.was.geo.headBlocks(g); had < head {
			add(start+had, head-had)
		}
		return err
	}
	add(start, head)
	add(p.blockBitmap, 1)
	add(p.inodeBitmap, 1)
	add(p.inodeTable, d.geo.tableBlocks)
	return err
}
