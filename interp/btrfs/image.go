package btrfs

import (
	"errors"
	"fmt"

	"fsward/change"
	"fsward/interp"
	"fsward/interp/btrfs/ondisk"
)

// Image reads the whole file system on a disk, or on the disks of an interp.Set, as one
// transaction of additions. It reads all copies of every block of every tree. The observation has
// violations of structure if the file system is not sound. The errors are those of New; a fault of
// a block that only Image reads is a violation.
func Image(d interp.Disk) (interp.Observation, error) { return ImageWith(d, interp.ImageOptions{}) }

// ImageWith is Image with bounds on memory and a report of progress.
func ImageWith(d interp.Disk, options interp.ImageOptions) (interp.Observation, error) {
	devs, err := open(d, first(d))
	if err != nil {
		return interp.Observation{}, err
	}
	c := newComparer(d, interp.Limits{})
	c.image = &options
	if options.Degraded {
		if devs, err = c.degraded(devs); err != nil {
			return interp.Observation{}, err
		}
	}
	for i := range interp.Sizes(d) {
		if at := interp.Address(i, 0); devs.on(at) == nil && !devs.onSeed(at) {
			return interp.Observation{}, fmt.Errorf(
				"btrfs: disk %d does not belong to the file system on disk %d", i, first(d))
		}
	}
	sb, at := devs.newest()
	at += ondisk.SuperOffset
	if options.InUse {
		sb, at = newestCopy(d, devs, sb, at)
	}
	obs := interp.Observation{Point: interp.CommitPoint, Generation: sb.Generation()}
	s, diff, err := c.compare(nil, sb, at, devs, c.newCache(sb))
	if s != nil {
		if err := s.complete(); err != nil {
			return interp.Observation{}, err
		}
		if lost := s.lost(); lost != "" {
			obs.Note = "degraded: " + lost + " is missing, and its copies are not judged"
		}
	}
	if err == nil && !diff.failed() {
		return c.imageLog(s, diff, obs), nil
	}
	if err == nil {
		obs.Violations = diff.faults
		err = diff.unknown
	}
	if unsupported, ok := errors.AsType[*interp.UnsupportedError](err); ok {
		return interp.Observation{}, unsupported
	}
	if _, ok := errors.AsType[*missingError](err); ok {
		return interp.Observation{}, baseline(err)
	}
	if err != nil {
		refuse(err, &obs)
	}
	return obs, nil
}

// newestCopy returns the newest superblock on the devices, given the one that a mount would use,
// and its address. The kernel writes the copies in any order (write_dev_supers), and the first one
// that lands is the commit for a guard. Until the primary one lands, too, only the copy has the
// state that the guard knows.
func newestCopy(d interp.Disk, devs *devices, sb ondisk.Superblock, at uint64) (ondisk.Superblock,
	uint64) {
	for _, dev := range devs.list {
		for _, off := range ondisk.SuperOffsets[1:] {
			if off+ondisk.SuperSize > dev.size {
				break
			}
			mirror, err := readSuper(d, dev.start+off)
			if err == nil && mirror.FSID() == sb.FSID() && mirror.Generation() > sb.Generation() &&
				checkSuper(mirror, dev.start+off) == nil {
				sb, at = mirror, dev.start+off
			}
		}
	}
	return sb, at
}

// imageLog adds the log to an image whose trees are sound.
func (c *comparer) imageLog(s *state, d *diff, obs interp.Observation) interp.Observation {
	names := c.names
	view := newView(s, names, nil)
	d.deliver(view, &obs)
	if c.image != nil && c.image.SkipLog {
		return obs
	}
	c.names = change.NewNames() // the view of the trees still uses the old ones
	r := c.readLog(s, s.sb, nil)
	if len(r.faults) > 0 || r.err != nil {
		return interp.Observation{Point: obs.Point, Generation: obs.Generation, Note: obs.Note,
			Violations: r.faults, Unknown: r.err}
	}
	obs.Logs = r.parts
	return obs
}
