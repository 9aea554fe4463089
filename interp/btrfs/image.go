package btrfs

import (
	"errors"
	"fmt"

	"fsward/interp"
)

// Image reads the whole file system on a disk, or on the disks of an interp.Set, as one transaction of
// additions: every block of every tree, in all copies. The observation has violations of structure if it
// is not sound. The error is as that of New, without the blocks that only Image reads.
func Image(d interp.Disk) (interp.Observation, error) {
	f, devs, err := open(d, first(d))
	if err != nil {
		return interp.Observation{}, err
	}
	for i := range f.sizes {
		if devs.on(interp.Address(i, 0)) == nil {
			return interp.Observation{}, fmt.Errorf("btrfs: disk %d is not of the file system on disk %d", i, first(d))
		}
	}
	sb, start := devs.newest()
	obs := interp.Observation{Point: interp.CommitPoint, Generation: sb.generation()}
	s, diff, err := f.compare(nil, sb, start+superOffset, devs, newNodeCache(sb.nodeSize(), sb.sectorSize()))
	if s != nil {
		if err := s.complete(); err != nil {
			return interp.Observation{}, err
		}
	}
	if err == nil && !diff.failed() {
		obs.Txn, obs.View = diff.out.txn, newView(s, f.names)
		return obs, nil
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
		f.refuseSuper(err, &obs)
	}
	return obs, nil
}
