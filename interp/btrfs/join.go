package btrfs

import (
	"fsward/interp"
	"fsward/interp/btrfs/ondisk"
)

// join returns the base with a superblock in the place of what its disk had before: it is as it was, unless a
// device is added or one takes the place of another. It fails if a device changes what it is.
func (f *FS) join(at uint64, sb ondisk.Superblock) (*state, error) {
	start := at - at%interp.DiskStride
	disk, _ := interp.Locate(at)
	known := f.base.devs.on(start)
	if known != nil && known.id == sb.DevItem().DevID() && known.uuid == sb.DevItem().UUID() {
		return f.base, nil
	}
	if known != nil && known.id != 0 {
		return nil, violatedAt(superRule, at, "dev_item is that of device %d (uuid %s), this is device %d (uuid %s)",
			sb.DevItem().DevID(), uuidText(sb.DevItem().UUID()), known.id, uuidText(known.uuid))
	}
	if source := f.base.devs.find(sb.DevItem().DevID()); known != nil && source != nil {
		s, err := f.base.replaced(source.start, start)
		if err == nil {
			f.after = s.devs
		}
		return s, err
	}
	devs, err := f.base.devs.with(start, f.sizes[disk], &sb)
	if err != nil {
		return nil, err
	}
	s := *f.base
	s.devs, f.after = devs, devs
	return &s, nil
}

// keep makes the base what join returned once the write is done.
func (f *FS) keep(base *state) {
	if base == f.base {
		return
	}
	f.settle = func(written bool) {
		if written {
			f.base = base
		}
	}
}
