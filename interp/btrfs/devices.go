package btrfs

import (
	"fmt"

	"fsward/interp"
	"fsward/interp/btrfs/ondisk"
)

// A device is one of the disks that a file system consists of.
type device struct {
	id    uint64 // dev_item.devid; 0 while it is the target of a replacement (BTRFS_DEV_REPLACE_DEVID)
	uuid  [16]byte
	start uint64 // device address of its first byte
	size  uint64 // bytes
	sb    ondisk.Superblock
}

// devices are the disks of a file system that are there. They are not changed once they are made:
// when one comes or goes, new ones are.
type devices struct{ list []device }

// find returns the device with an id, nil if its disk is not there.
func (d *devices) find(id uint64) *device {
	for i := range d.list {
		if d.list[i].id == id {
			return &d.list[i]
		}
	}
	return nil
}

// on returns the device that begins at a device address, nil if that disk is none of the file
// system.
func (d *devices) on(start uint64) *device {
	for i := range d.list {
		if d.list[i].start == start {
			return &d.list[i]
		}
	}
	return nil
}

// without returns the devices less that on one disk.
func (d *devices) without(start uint64) *devices {
	out := &devices{}
	for _, dev := range d.list {
		if dev.start != start {
			out.list = append(out.list, dev)
		}
	}
	return out
}

// with returns the devices with that on one disk being what its superblock says. It is an error if
// two disks then claim to be the same device.
func (d *devices) with(start, size uint64, sb *ondisk.Superblock) (*devices, error) {
	out := d.without(start)
	if other := out.find(sb.DevItem().DevID()); other != nil {
		return nil, &interp.UnsupportedError{FS: ondisk.FSName, Feature: fmt.Sprintf("a file system with device %d on two disks, %d and %d",
			sb.DevItem().DevID(), other.start/interp.DiskStride, start/interp.DiskStride)}
	}
	out.list = append(out.list, device{id: sb.DevItem().DevID(), uuid: sb.DevItem().UUID(), start: start, size: size, sb: *sb})
	return out, nil
}

// newest returns the superblock of the highest generation, from which a mount would go on: of
// several, that of the lowest devid (open_fs_devices goes through the devices in that order and
// sets latest_dev).
func (d *devices) newest() (sb ondisk.Superblock, start uint64) {
	for i := range d.list {
		if i == 0 || precedes(d.list[i].sb, sb) {
			sb, start = d.list[i].sb, d.list[i].start
		}
	}
	return sb, start
}

// before reports whether a mount goes by one superblock rather than by that of another device.
func precedes(s, o ondisk.Superblock) bool {
	if s.Generation() != o.Generation() {
		return s.Generation() > o.Generation()
	}
	return s.DevItem().DevID() < o.DevItem().DevID()
}

// decides reports whether a mount would go by a superblock that is at a device address, as the
// disks are now.
func (d *devices) decides(disk interp.Disk, at uint64, sb ondisk.Superblock) bool {
	if !isPrimary(at) {
		return false
	}
	for i := range d.list {
		dev := &d.list[i]
		if dev.start+ondisk.SuperOffset == at {
			continue
		}
		now, err := readSuper(disk, dev.start+ondisk.SuperOffset)
		if err == nil && now.Magic() == ondisk.SuperMagic && precedes(now, sb) {
			return false
		}
	}
	return true
}

// replacement returns the devices of a replacement that is under way: the one that is replaced, and
// the one that takes its place. target is nil if there is none.
func (s *state) replacement() (source, target *device) {
	target = s.devs.find(0)
	if target == nil {
		return nil, nil
	}
	root, ok, err := s.treeRoot(ondisk.DevTreeID)
	if !ok || err != nil {
		return nil, nil
	}
	p, ok, err := s.seek(ondisk.DevTreeID, root.pointer, ondisk.Key{Type: ondisk.DevReplaceKey})
	if !ok || err != nil || p.key() != (ondisk.Key{Type: ondisk.DevReplaceKey}) {
		return nil, nil
	}
	item := p.item()
	if replace, ok := ondisk.ViewDevReplace(item.data()); ok {
		source = s.devs.find(replace.SrcDevID())
	}
	if source == nil {
		return nil, nil
	}
	return source, target
}

// replaced returns the state with one device in the place of another (btrfs_dev_replace_finishing).
func (s *state) replaced(source, target uint64) (*state, error) {
	chunks, err := s.chunks.moved(source, target)
	if err != nil {
		return nil, err
	}
	old, now := s.devs.on(source), *s.devs.on(target)
	now.id, now.uuid = old.id, old.uuid
	devs := s.devs.without(source).without(target)
	devs.list = append(devs.list, now)
	out := *s
	out.chunks, out.devs = chunks, devs
	return &out, nil
}

// A missingError is a device whose disk is not there.
type missingError struct {
	id    uint64
	uuid  [16]byte
	chunk uint64 // that needs it
}

func (e *missingError) Error() string {
	return fmt.Sprintf("chunk %d has a stripe on device %d (uuid %s), whose disk is not among those guarded", e.chunk, e.id, uuidText(e.uuid))
}

// uuidText writes a UUID as btrfs-progs do.
func uuidText(u [16]byte) string {
	return fmt.Sprintf("%x-%x-%x-%x-%x", u[0:4], u[4:6], u[6:8], u[8:10], u[10:16])
}

// addressText names a device address: a number on the first disk, and the disk with it on others.
func addressText(addr uint64) string {
	d, off := interp.Locate(addr)
	if d == 0 {
		return fmt.Sprint(off)
	}
	return fmt.Sprintf("%d of disk %d", off, d)
}
