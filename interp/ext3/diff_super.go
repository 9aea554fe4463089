package ext3

import (
	"fsward/change"
	"fsward/interp/ext3/ondisk"
)

// superblock compares the superblock.
func (d *compared) superblock() error {
	block := d.Geo.SuperBlock()
	if !d.rewrote(block) {
		return nil
	}
	after, err := d.new.super()
	if err != nil {
		return err
	}
	if g, err := ondisk.ParseGeometry(after, d.device); err != nil {
		d.fault(on(checkSuperblock.at(ondisk.SuperOff, "%v", err), ondisk.KindSuperblock, 0))
		return nil
	} else if changed := g.ChangedFrom(d.Geo); changed != "" {
		d.fault(on(checkSuperblock.at(ondisk.SuperOff, "%s", changed), ondisk.KindSuperblock, 0))
		return nil
	}
	o := change.Object{Kind: ondisk.KindSuperblock}
	fields := ondisk.SuperRecordFields
	var before []byte
	var was func(change.Field) change.Value
	if d.image == nil {
		if before, err = d.old.super(); err != nil {
			return err
		}
		was = ondisk.SuperValue(before)
	}
	d.object(o, fields, was, ondisk.SuperValue(after))
	if d.image != nil {
		return nil
	}
	fault, err := d.new.journalCopyFault(before, after)
	if fault != nil {
		d.fault(*fault)
	}
	return err
}

// superCopy checks the first copy of the superblock if the transaction writes it or changes the
// UUID of the file system. e2fsck compares the UUID with that of the first copy
// (check_backup_super_block), and Linux writes both at once (ext4_update_superblocks_fn). Linux
// updates the size in the copies later (update_backups).
func (d *compared) superCopy() error {
	g := uint32(1)
	for g < d.Geo.Groups && !d.Geo.HasSuper(g) {
		g++
	}
	if block := d.Geo.GroupStart(g); d.image == nil && g < d.was.Geo.Groups && (d.rewrote(block) ||
		d.Geo.UUID != d.was.Geo.UUID) {
		b, err := d.new.Block(block)
		if err != nil {
			return err
		}
		uuid := [ondisk.UUIDLen]byte(b[ondisk.SuperUUIDAt:])
		if ondisk.SuperOf(b).Magic() != ondisk.Magic || uuid != d.Geo.UUID {
			d.fault(on(checkSuperblock.at(d.Geo.Addr(block),
				"the first copy of the superblock has the UUID %x, want %x", uuid, d.Geo.UUID),
				ondisk.KindSuperblock, 0))
		}
	}
	return nil
}
