package btrfs

import (
	"errors"
	"fmt"

	"fsward/interp"
	"fsward/interp/btrfs/ondisk"
)

// appear takes up a file system whose primary superblock shows up where there was none. What mkfs wrote
// may still be on its way, so its trees are judged with the first commit.
func (f *FS) appear(at uint64, sb ondisk.Superblock, obs *interp.Observation) {
	if !isPrimary(at) || sb.Magic() != ondisk.SuperMagic {
		return
	}
	if err := checkSuper(sb, at); err != nil {
		f.refuseSuper(err, obs)
		return
	}
	if !inRewrite(sb) {
		f.take(at, sb, obs)
	}
}

// take takes up another file system. If its trees are all there and sound it is the new baseline;
// else mkfs has not written all yet, and the next commit is judged as a whole image.
func (f *FS) take(at uint64, sb ondisk.Superblock, obs *interp.Observation) {
	disk, _ := interp.Locate(at)
	devs, err := findDevices(f.disk, f.sizes, disk)
	var s *state
	if err == nil {
		var d *diff
		f.image = &interp.ImageOptions{Budget: f.memory} // its structure counts: no rule is asked
		s, d, err = f.compare(nil, sb, at, devs, f.newCache(sb))
		f.image = nil
		if err == nil {
			err = d.err()
		}
		if err == nil {
			err = s.complete()
		}
	}
	if unsupported, ok := errors.AsType[*interp.UnsupportedError](err); ok {
		obs.Unknown = unsupported
		return
	}
	obs.Note = fmt.Sprintf("a btrfs file system appeared, generation %d", sb.Generation())
	if err != nil {
		obs.Note += "; not all of it is on the disk yet, its next commit is checked as a whole: " + err.Error()
		if s == nil {
			return
		}
		s.unsound = true
	}
	obs.Baseline = !s.unsound // if it is, the next commit is judged as a whole
	f.after = s.devs
	f.settle = func(written bool) {
		if written {
			f.base, f.judged, f.earlier = s, nil, nil
		}
	}
}

// erase lets a superblock go that is given up: by wipefs (the magic becomes zero and the rest stays), by
// mkfs, which writes its own magic first, or by a discard. A bug seldom writes just that.
func (f *FS) erase(at uint64, sb ondisk.Superblock, obs *interp.Observation) {
	var onDisk [ondisk.SuperSize]byte
	if err := readFull(f.disk.Disk, onDisk[:], at); err != nil {
		obs.Unknown = err
		return
	}
	if sb.Magic() == 0 && *sb.Bytes() != [ondisk.SuperSize]byte{} {
		clear(onDisk[ondisk.SuperMagicAt : ondisk.SuperMagicAt+8])
		if onDisk != *sb.Bytes() {
			obs.Violations = append(obs.Violations, violatedAt(superRule, at, "the superblock is overwritten by something that is none").v)
			return
		}
	}
	if !isPrimary(at) {
		return // a mirror: the primary is what counts
	}
	why := "its superblock is erased"
	if sb.Magic() == ondisk.MkfsMagic {
		why = "a new btrfs file system is being made"
	}
	f.leave(at, why, obs)
}

// leave lets go of a disk: of a device that was removed or replaced, or that something else is made of. With
// the last one the file system is gone.
func (f *FS) leave(at uint64, why string, obs *interp.Observation) {
	start := at - at%interp.DiskStride
	id := f.base.devs.on(start).id
	f.after = f.base.devs.without(start)
	left := len(f.after.list)
	obs.Note = fmt.Sprintf("the btrfs file system on the disk is given up: %s", why)
	if left > 0 {
		obs.Note = fmt.Sprintf("device %d of the btrfs file system is given up: %s; %d remain", id, why, left)
	}
	base := *f.base
	base.devs = f.after
	if source, target := f.base.replacement(); target != nil && source.start == start {
		// A replacement ends with the erasure of what was replaced, before the commit that says so.
		moved, err := f.base.replaced(source.start, target.start)
		if err != nil {
			f.refuseSuper(err, obs)
			return
		}
		base, f.after = *moved, moved.devs
	}
	f.settle = func(written bool) {
		if !written {
			return
		}
		f.judged, f.earlier = nil, nil
		if f.base = &base; left == 0 {
			f.base, f.log = nil, nil
		}
	}
}
