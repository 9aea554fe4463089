package ext3

import (
	"errors"

	"fsward/change"
	"fsward/interp"
	"fsward/interp/ext3/ondisk"
)

// A transaction can change the layout: the file system grows, or gets another UUID
// (EXT4_IOC_SETFSUUID).
//
// A file system grows while it is mounted (resize2fs, ext4_resize_fs): the last group gets longer,
// groups are added, and descriptors take blocks that the resize inode reserved for them. The new
// blocks, inodes and groups appear in the commit that writes the superblock with the new size.

// grown returns the layout after a transaction: the same one if the file system stays as it is. The
// comparison of the superblock reports damage and all other changes.
func (m *Mounted) grown(after *State, t *transaction, device uint64) (*Layout, *change.Violation,
	error) {
	if _, ok := t.Copies[m.Geo.SuperBlock()]; !ok {
		return m.Layout, nil, nil
	}
	sb, err := after.super()
	if err != nil {
		return nil, nil, err
	}
	geo, err := ondisk.ParseGeometry(sb, device)
	if err == nil && geo.GrownFrom(m.Geo) {
		l, err := readLayout(geo, after.Block)
		var bad *interp.CorruptError
		if errors.As(err, &bad) {
			v := checkGroup.at(bad.Addr, "%s", bad.Reason)
			return nil, &v, nil
		}
		return l, nil, err
	}
	if err == nil && geo.RenamedFrom(m.Geo) {
		l := *m.Layout
		l.Geo = geo
		return &l, nil, nil
	}
	return m.Layout, nil, nil
}

// become switches to the layout that a transaction made.
func (m *Mounted) become(l *Layout) {
	m.Layout, m.State.geo, m.Log.Geo = l, l.Geo, l.Geo
}
