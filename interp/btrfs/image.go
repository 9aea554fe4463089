package btrfs

import (
	"errors"

	"fsward/change"
	"fsward/interp"
)

// Image reads the whole file system on a disk as one transaction of additions: every block of every
// tree, in all copies. The observation has violations of structure if it is not sound. The error is as
// that of New, without the blocks that only Image reads.
func Image(d interp.Disk) (interp.Observation, error) {
	b, err := readSuper(d, superOffset)
	if err != nil || magicOf(b) != superMagic {
		return interp.Observation{}, interp.ErrNotFound
	}
	sb, err := parseSuper(b, superOffset)
	if err != nil {
		return interp.Observation{}, baseline(err)
	}
	f := &FS{disk: &overlay{Disk: d}, names: change.NewNames()}
	obs := interp.Observation{Point: interp.CommitPoint, Generation: sb.generation()}
	s, diff, err := f.compare(nil, sb, superOffset, newNodeCache(sb.nodeSize(), sb.sectorSize()))
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
	if err != nil {
		f.refuseSuper(err, &obs)
	}
	return obs, nil
}
