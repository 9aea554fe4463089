package btrfs

import (
	"errors"
	"fmt"

	"fsward/change"
	"fsward/interp"
	"fsward/interp/btrfs/ondisk"
)

// A BaseState is the Btrfs on disks that do not change. A state that is compared with it takes the
// blocks that both share from its cache.
type BaseState struct {
	cmp      comparer
	sizes    []uint64 // of the disks, in bytes
	base     *state
	needed   map[uint64]bool // answers of needs, by the address of a page
	next     *state          // the state compared last
	logNames *change.Names
}

var _ interp.BaseState = (*BaseState)(nil)

// NewBaseState reads the state on a disk as the base of comparisons. The errors are those of New.
func NewBaseState(d interp.Disk) (interp.BaseState, error) {
	devs, err := open(d, first(d))
	if err != nil {
		return nil, err
	}
	cmp := newComparer(d, interp.Limits{})
	base, err := cmp.attach(devs)
	if err != nil {
		return nil, err
	}
	return &BaseState{
		cmp:      cmp,
		sizes:    interp.Sizes(d),
		base:     base,
		needed:   make(map[uint64]bool),
		logNames: change.NewNames(),
	}, nil
}

// Compare compares the state of a crash image with the base state. It reads the primary superblock
// only, as mount does.
func (b *BaseState) Compare(image interp.CrashImage) (interp.Observation, error) {
	b.next = nil
	b.cmp.memory.Release()
	obs, err := b.compare(image)
	return refused(obs, err)
}

// compare is Compare without the conversion of errors into violations.
func (b *BaseState) compare(image interp.CrashImage) (obs interp.Observation, err error) {
	obs.Point = interp.CommitPoint
	devs, err := findDevices(image, b.sizes, 0)
	if errors.Is(err, interp.ErrNotFound) {
		err = violatedAt(superRule, ondisk.SuperOffset, "there is no superblock")
	}
	if err != nil {
		return obs, err
	}
	sb, start := devs.newest()
	obs.Generation = sb.Generation()
	old := b.base.sb
	if err := checkUnchanged(sb, old, start+ondisk.SuperOffset); err != nil {
		return obs, err
	}
	lost := image.Differing(b.needs)
	var s *state
	switch {
	case sb.Generation() < old.Generation():
		return obs, interp.ErrApart
	case sb.Generation() == old.Generation():
		s, err = b.sameCommit(image, sb, start, devs, lost)
		obs.Point = interp.NoPoint
	default:
		s, err = b.newCommit(image, sb, start, devs, lost, &obs)
	}
	if err != nil || len(obs.Violations) > 0 || obs.Unknown != nil {
		return obs, err
	}
	if _, ok := logPointer(sb); ok {
		if obs.Point == interp.NoPoint {
			obs.Point = interp.LogPoint
		}
		b.cmp.names, b.logNames = b.logNames, b.cmp.names // the view still uses those of the trees
		r := b.cmp.readLog(s, sb, nil)
		b.cmp.names, b.logNames = b.logNames, b.cmp.names
		if obs.Violations, obs.Unknown = r.faults, r.err; len(obs.Violations) > 0 || obs.Unknown != nil {
			obs.Txn, obs.View = nil, nil
			return obs, nil //nolint:nilerr // the observation reports what could not be read
		}
		obs.Logs = r.parts
	}
	b.next = s
	return obs, nil
}

// refused adds an error that is a violation to an observation, and returns other errors.
func refused(obs interp.Observation, err error) (interp.Observation, error) {
	e, ok := errors.AsType[*structureError](err)
	if !ok {
		return obs, err
	}
	obs.Point = interp.CommitPoint
	obs.Violations = append(obs.Violations, e.v)
	return obs, nil
}

// needs reports whether a page of the device holds part of a metadata block of the base state.
func (b *BaseState) needs(addr uint64) bool {
	if known, ok := b.needed[addr]; ok {
		return known
	}
	found := false
	for p := range b.base.chunks.places(addr, interp.CrashPage) {
		if !p.holds(ondisk.GroupMetadata | ondisk.GroupSystem) {
			continue
		}
		err := b.base.eachTreeBlock(p.logical, p.logical+p.n, func(uint64) error {
			found = true
			return nil
		})
		found = found || err != nil // a page that cannot be checked counts as needed
	}
	b.needed[addr] = found
	return found
}

// sameCommit returns the state of a crash image with the commit of the base state. lost are the
// needed pages that differ.
func (b *BaseState) sameCommit(
	image interp.CrashImage, sb ondisk.Superblock, start uint64, devs *devices, lost []uint64,
) (*state, error) {
	if !sameTrees(sb, b.base.sb) {
		return nil, violatedAt(superRule, start+ondisk.SuperOffset,
			"the roots of the trees changed and the generation stayed %d", sb.Generation())
	}
	if len(lost) > 0 {
		return nil, violatedAt(baseRule, lost[0],
			"a block that the commit of generation %d needs is overwritten", sb.Generation())
	}
	s := *b.base
	s.sb, s.devs, s.disk = sb, devs, image
	s.cache, s.roots = b.base.cache.fork(image.Same), make(map[treeKey]treeRoot)
	return &s, nil
}

// newCommit compares a crash image with a later commit with the base state. Blocks that both
// commits need must be unchanged. lost are the needed pages that differ.
func (b *BaseState) newCommit(
	image interp.CrashImage, sb ondisk.Superblock, start uint64, devs *devices, lost []uint64,
	obs *interp.Observation,
) (*state, error) {
	old := *b.base
	old.roots = make(map[treeKey]treeRoot)
	b.cmp.names.Reset()
	c := comparison{
		base: &old, sb: sb, at: start + ondisk.SuperOffset, disk: image, devs: devs,
		cache: b.base.cache.fork(image.Same), names: b.cmp.names, memory: b.cmp.memory,
	}
	s, d, err := c.run()
	if err != nil {
		return nil, err
	}
	if d.failed() {
		obs.Violations = d.faults
		if d.unknown != nil {
			obs.Unknown = fmt.Errorf("the commit of generation %d: %w", sb.Generation(), d.unknown)
		}
		return nil, nil
	}
	for _, addr := range lost {
		if err := b.checkShared(s, addr); err != nil {
			return nil, err
		}
	}
	obs.Txn, obs.View = d.out.txn, newView(s, b.cmp.names, nil)
	return s, nil
}

// checkShared checks a page that the base state needs and that has changed. It is a violation if
// the later commit s needs the page too.
func (b *BaseState) checkShared(s *state, addr uint64) error {
	for p := range s.chunks.places(addr, interp.CrashPage) {
		if !p.holds(ondisk.GroupMetadata | ondisk.GroupSystem) {
			continue
		}
		err := s.eachTreeBlock(p.logical, p.logical+p.n, func(logical uint64) error {
			n, err := s.block(logical, ondisk.GroupMetadata|ondisk.GroupSystem, true)
			if err != nil {
				return err
			}
			if n.Generation() <= b.base.sb.Generation() {
				return violatedAt(baseRule, addr,
					"block %d, which the commits of generation %d and %d need, is overwritten",
					logical, b.base.sb.Generation(), s.sb.Generation())
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Follow makes the state that was compared last the base state. d is the disk with it, and
// differing are the addresses of the pages that differ.
func (b *BaseState) Follow(d interp.Disk, differing []uint64) {
	if b.next == nil {
		return
	}
	s, cache := *b.next, b.base.cache
	for _, addr := range differing {
		cache.forget(addr, interp.CrashPage)
	}
	s.disk, s.cache, s.roots = d, cache, make(map[treeKey]treeRoot)
	b.base, b.next = &s, nil
	clear(b.needed)
}
