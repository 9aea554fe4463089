package btrfs

import (
	"fmt"
	"slices"
	"strings"

	"fsward/interp"
	"fsward/interp/btrfs/ondisk"
)

// A device is one of the disks of a file system.
type device struct {
	// id is dev_item.devid. The target of a replacement has 0 (BTRFS_DEV_REPLACE_DEVID).
	id    uint64
	uuid  [16]byte
	start uint64 // device address of its first byte
	size  uint64 // bytes
	sb    ondisk.Superblock
}

// devices are the disks of a file system that are present. A value is immutable: when a disk comes
// or goes, a new value takes its place.
type devices struct {
	list  []device
	lost  []device // of a degraded file system; without a disk and a superblock
	seeds []device // of other file systems, which this one only reads
}

// find returns the device with an ID, present or lost, or nil if there is none.
func (d *devices) find(id uint64) *device {
	for _, list := range [...][]device{d.list, d.lost} {
		for i := range list {
			if list[i].id == id {
				return &list[i]
			}
		}
	}
	return nil
}

// on returns the device whose disk begins at a device address, or nil if the disk does not belong
// to the file system.
func (d *devices) on(start uint64) *device {
	for i := range d.list {
		if d.list[i].start == start {
			return &d.list[i]
		}
	}
	return nil
}

// disksOf returns the disks of devices.
func disksOf(list []device) []int {
	disks := make([]int, len(list))
	for i := range list {
		disks[i], _ = interp.Locate(list[i].start)
	}
	return disks
}

// without returns the devices without the one whose disk begins at start, or that is lost and has
// its addresses from there on.
func (d *devices) without(start uint64) *devices {
	begins := func(dev device) bool { return dev.start == start }
	return &devices{seeds: d.seeds, list: slices.DeleteFunc(slices.Clone(d.list), begins),
		lost: slices.DeleteFunc(slices.Clone(d.lost), begins)}
}

// resized returns the devices with another size in bytes of the disk that begins at start.
func (d *devices) resized(start, size uint64) *devices {
	out := *d
	out.list = slices.Clone(d.list)
	for i := range out.list {
		if out.list[i].start == start {
			out.list[i].size = size
		}
	}
	return &out
}

// with returns the devices with the one that sb describes, on the disk that begins at start. A lost
// device of this ID is lost no more. with fails if another disk claims to be the same device.
func (d *devices) with(start, size uint64, sb *ondisk.Superblock) (*devices, error) {
	out := d.without(start)
	dev := sb.DevItem()
	other := out.find(dev.DevID())
	if other != nil && isLost(other.start) {
		out, other = out.without(other.start), nil
	}
	if other != nil {
		return nil, &interp.UnsupportedError{FS: ondisk.FSName, Feature: fmt.Sprintf(
			"a file system with device %d on two disks, %d and %d",
			dev.DevID(), other.start/interp.DiskStride, start/interp.DiskStride)}
	}
	out.list = append(out.list, device{
		id: dev.DevID(), uuid: dev.UUID(), start: start, size: size, sb: *sb,
	})
	return out, nil
}

// newest returns the superblock that a mount would use, and the start of its disk: the superblock
// of the highest generation, and among several the one of the lowest devid. open_fs_devices visits
// the devices in that order and sets latest_dev.
func (d *devices) newest() (sb ondisk.Superblock, start uint64) {
	for i := range d.list {
		if i == 0 || precedes(d.list[i].sb, sb) {
			sb, start = d.list[i].sb, d.list[i].start
		}
	}
	return sb, start
}

// precedes reports whether a mount prefers superblock s to the superblock o of another device.
func precedes(s, o ondisk.Superblock) bool {
	if s.Generation() != o.Generation() {
		return s.Generation() > o.Generation()
	}
	return s.DevItem().DevID() < o.DevItem().DevID()
}

// decides reports whether a mount of the disks as they are now would use the superblock at a device
// address.
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

// replacement returns the devices of a running device replacement: the source and the target. Both
// are nil if there is none.
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

// replaced returns the state after the target has replaced the source
// (btrfs_dev_replace_finishing). The source may be lost.
func (s *state) replaced(source, target *device) (*state, error) {
	chunks, err := s.chunks.moved(source.start, target.start)
	if err != nil {
		return nil, err
	}
	now := *target
	now.id, now.uuid = source.id, source.uuid
	devs := s.devs.without(source.start).without(target.start)
	devs.list = append(devs.list, now)
	out := *s
	out.chunks, out.devs = chunks, devs
	return &out, nil
}

// withLost returns the devices of a state that bootstrap has made, with those that have a dev_item
// and no disk.
func (s *state) withLost() (*devices, error) {
	if err := s.chunks.tolerates(); err != nil {
		return nil, err
	}
	devs := s.devs
	err := s.eachLeaf(s.chunkRoot(), newBudget(), func(n *ondisk.Node) error {
		for i := range n.NrItems() {
			if n.Key(i).Type != ondisk.DevItemKey {
				continue
			}
			item, ok := ondisk.ViewDevItem(n.Item(i))
			if !ok || devs.holder(item.DevID(), item.UUID()) != nil {
				continue
			}
			if len(devs.lost) == maxStripes {
				return fmt.Errorf("more than %d devices are lost", maxStripes)
			}
			devs = devs.lacking(item.DevID(), item.UUID())
		}
		return nil
	})
	if err != nil {
		return nil, baseline(fmt.Errorf("chunk tree: %w", err))
	}
	return devs, nil
}

// needs reports whether a lost device still belongs to the file system: a guest removes it with
// btrfs device remove missing. A chunk tree that cannot be read counts as one that has the device.
func (s *state) needs(lost device) bool {
	item, ok, err := s.devItem(lost.id)
	return err != nil || ok && item.UUID() == lost.uuid
}

// lost describes the lost devices that a state needs; "" if there are none.
func (s *state) lost() string {
	var names []string
	for _, dev := range s.devs.lost {
		if s.needs(dev) {
			names = append(names, fmt.Sprintf("device %d (uuid %s)", dev.id, uuidText(dev.uuid)))
		}
	}
	return strings.Join(names, ", ")
}

// A missingError reports a device whose disk is missing.
type missingError struct {
	id    uint64
	uuid  [16]byte
	chunk uint64 // that has a stripe on the device
}

func (e *missingError) Error() string {
	return fmt.Sprintf(
		"chunk %d has a stripe on device %d (uuid %s), whose disk is not among those guarded",
		e.chunk, e.id, uuidText(e.uuid))
}

// uuidText writes a UUID as btrfs-progs do.
func uuidText(u [16]byte) string {
	return fmt.Sprintf("%x-%x-%x-%x-%x", u[0:4], u[4:6], u[6:8], u[8:10], u[10:16])
}

// addressText writes a device address: an offset on the first disk, or an offset and its disk.
func addressText(addr uint64) string {
	d, off := interp.Locate(addr)
	if d == 0 {
		return fmt.Sprint(off)
	}
	return fmt.Sprintf("%d of disk %d", off, d)
}
