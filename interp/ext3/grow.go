package ext3

import (
	"errors"

	"fsward/change"
	"fsward/interp"
	"fsward/interp/ext3/ondisk"
)

// A transaction can make another layout: of a file system that grows, or gets another UUID (EXT4_IOC_SETFSUUID).
//
// A file system grows while it is mounted (resize2fs, ext4_resize_fs): the last group gets longer, groups
// are added, and descriptors take blocks that the resize inode held for them. The commit that brings the
// superblock with the new size is the one in which the new blocks, inodes and groups appear.

// grown returns the layout that a transaction makes, the same as before if the file system stays as it is.
// A superblock that is damaged or changed otherwise is told of where it is compared.
func (m *Mounted) grown(after *State, t *transaction, device uint64) (*Layout, *change.Violation, error) {
	if _, ok := t.Copies[m.Layout.Geo.SuperBlock()]; !ok {
		return m.Layout, nil, nil
	}
	sb, err := after.super()
	if err != nil {
		return nil, nil, err
	}
	geo, err := ondisk.ParseGeometry(sb, device)
	if err == nil && geo.GrownFrom(m.Layout.Geo) {
		l, err := readLayout(geo, after.Block)
		var bad *interp.CorruptError
		if errors.As(err, &bad) {
			v := checkGroup.at(bad.Addr, "%s", bad.Reason)
			return nil, &v, nil
		}
		return l, nil, err
	}
	if err == nil && geo.RenamedFrom(m.Layout.Geo) {
		l := *m.Layout
		l.Geo = geo
		return &l, nil, nil
	}
	return m.Layout, nil, nil
}

// superCopy checks the first copy of the superblock where a transaction writes it, or gives the file system another UUID: e2fsck
// compares the UUID with the first copy's (check_backup_super_block), and Linux writes both at once (ext4_update_superblocks_fn).
// How large the file system is comes to the copies later (update_backups).
func (d *delta) superCopy() error {
	g := uint32(1)
	for g < d.Geo.Groups && !d.Geo.HasSuper(g) {
		g++
	}
	if block := d.Geo.GroupStart(g); d.image == nil && g < d.was.Geo.Groups && (d.rewrote(block) || d.Geo.UUID != d.was.Geo.UUID) {
		b, err := d.new.Block(block)
		if err != nil {
			return err
		}
		if uuid := [ondisk.UuidLen]byte(b[ondisk.SuperUUID:]); ondisk.LE16(b, ondisk.SuperMagic) != ondisk.Magic || uuid != d.Geo.UUID {
			d.fault(on(checkSuperblock.at(d.Geo.Addr(block), "the first copy of the superblock has the UUID %x, want %x", uuid, d.Geo.UUID), ondisk.KindSuperblock, 0))
		}
	}
	return nil
}

// become takes the layout that a transaction made.
func (m *Mounted) become(l *Layout) {
	m.Layout, m.State.geo, m.Journal.Geo = l, l.Geo, l.Geo
}

// fixedOwners makes the records of the blocks of a group that begin to belong to the file system itself.
func (d *delta) fixedOwners(g uint32, p ondisk.Places) (err error) {
	add := func(first, n uint32) {
		for b := first; b < first+n && err == nil; b++ {
			err = d.owner(change.Object{Kind: ondisk.KindOwner, ID: uint64(b)})
		}
	}
	start, head := d.Geo.GroupStart(g), d.Geo.HeadBlocks(g)
	if !d.fresh(g) {
		if had := d.was.Geo.HeadBlocks(g); had < head {
			add(start+had, head-had)
		}
		return err
	}
	add(start, head)
	add(p.BlockBitmap, 1)
	add(p.InodeBitmap, 1)
	add(p.InodeTable, d.Geo.TableBlocks)
	return err
}
