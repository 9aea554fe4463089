package btrfs

import (
	"errors"
	"fmt"

	"fsward/interp"
	"fsward/interp/btrfs/ondisk"
)

// appear adopts a file system when its primary superblock is written and none is followed yet.
func (s *superblockWrite) appear() {
	if !isPrimary(s.at) || s.sb.Magic() != ondisk.SuperMagic {
		return
	}
	if err := checkSuper(s.sb, s.at); err != nil {
		refuse(err, s.obs)
		return
	}
	if !inRewrite(s.sb) {
		s.adopt()
	}
}

// adopt begins to follow another file system. If all its trees are on the disk and sound, it is the
// new baseline. Otherwise mkfs has not written everything yet, and the next commit is judged as a
// whole image.
func (s *superblockWrite) adopt() {
	taken, err := s.readAppeared()
	if unsupported, ok := errors.AsType[*interp.UnsupportedError](err); ok {
		s.obs.Unknown = unsupported
		return
	}
	s.obs.Note = fmt.Sprintf("a btrfs file system appeared, generation %d", s.sb.Generation())
	if err != nil {
		s.obs.Note += "; not all of it is on the disk yet, its next commit is checked as a whole: " +
			err.Error()
		if taken == nil {
			return
		}
		taken.unsound = true
	}
	s.obs.Baseline = !taken.unsound
	s.pending.next.base, s.pending.next.devs, s.pending.next.restarts = taken, taken.devs, true
}

// readAppeared reads the file system that the superblock leads to. It checks the structure only,
// and runs no rules.
func (s *superblockWrite) readAppeared() (*state, error) {
	disk, _ := interp.Locate(s.at)
	devs, err := findDevices(s.comparer.disk, interp.Sizes(s.comparer.disk.Disk), disk)
	if err != nil {
		return nil, err
	}
	structure := s.comparer
	structure.image = &interp.ImageOptions{Budget: s.comparer.memory}
	taken, d, err := structure.compare(nil, s.sb, s.at, devs, structure.newCache(s.sb))
	if err == nil {
		err = d.err()
	}
	if err == nil {
		err = taken.complete()
	}
	return taken, err
}

// erase handles a superblock that is erased on purpose: by wipefs, which zeroes the magic and keeps
// the rest; by mkfs, which writes its own magic first; or by a discard. A bug is unlikely to write
// exactly that.
func (s *superblockWrite) erase() {
	onDisk, err := readSuper(s.comparer.disk.Disk, s.at)
	if err != nil {
		s.obs.Unknown = err
		return
	}
	if s.sb.Magic() == 0 && *s.sb.Bytes() != [ondisk.SuperSize]byte{} {
		wiped := *onDisk.Bytes()
		clear(wiped[ondisk.SuperMagicAt : ondisk.SuperMagicAt+8])
		if wiped != *s.sb.Bytes() {
			s.violate("the write destroys the superblock")
			return
		}
	}
	if !isPrimary(s.at) {
		return // the erasure of the primary counts, not that of a mirror
	}
	why := "its superblock is erased"
	if s.sb.Magic() == ondisk.MkfsMagic {
		why = "a new btrfs file system is being made"
	}
	s.leave(why)
}

// leave ends the protection of a disk: the device was removed or replaced, or the disk is put to
// another use. When the last disk leaves, the file system is gone.
func (s *superblockWrite) leave(why string) {
	start, next := s.at-s.at%interp.DiskStride, &s.pending.next
	id := s.base.devs.on(start).id
	next.devs = s.base.devs.without(start)
	left := len(next.devs.list)
	s.obs.Note = fmt.Sprintf("the btrfs file system on the disk is given up: %s", why)
	if left > 0 {
		s.obs.Note = fmt.Sprintf("device %d of the btrfs file system is given up: %s; %d remain",
			id, why, left)
	}
	rest := *s.base
	rest.devs = next.devs
	if source, target := s.base.replacement(); target != nil && source.start == start {
		// A replacement ends when the source is erased, before the commit that records it.
		moved, err := s.base.replaced(source, target)
		if err != nil {
			refuse(err, s.obs)
			return
		}
		rest, next.devs = *moved, moved.devs
	}
	next.base, next.restarts, next.gone = &rest, true, left == 0
}
