package btrfs

import "fsward/interp"

// join returns the base with the device that this superblock describes. It is the base itself,
// unless the device is new or replaces another one. join fails if the disk of a device claims to be
// another device.
func (s *superblockWrite) join() (*state, error) {
	start, dev := s.at-s.at%interp.DiskStride, s.sb.DevItem()
	disk, _ := interp.Locate(s.at)
	known := s.base.devs.on(start)
	if known != nil && known.id == dev.DevID() && known.uuid == dev.UUID() {
		return s.base, nil
	}
	if known != nil && known.id != 0 {
		return nil, violatedAt(superRule, s.at,
			"dev_item names device %d (uuid %s), but the disk is device %d (uuid %s)",
			dev.DevID(), uuidText(dev.UUID()), known.id, uuidText(known.uuid))
	}
	if source := s.base.devs.find(dev.DevID()); known != nil && source != nil {
		joined, err := s.base.replaced(source, known)
		if err == nil {
			s.pending.next.devs = joined.devs
		}
		return joined, err
	}
	devs, err := s.base.devs.with(start, interp.Sub(s.comparer.disk.Disk, disk).Size(), &s.sb)
	if err != nil {
		return nil, err
	}
	joined := *s.base
	joined.devs, s.pending.next.devs = devs, devs
	return &joined, nil
}

// keep makes the state that join returned the base once the write has landed.
func (s *superblockWrite) keep() {
	if s.old != s.base {
		s.pending.next.base = s.old
	}
}
