package btrfs

import (
	"errors"
	"fmt"

	"fsward/change"
	"fsward/interp"
)

// A Known is a Btrfs as disks define it that stay. Blocks that a state shares with it are taken from its cache.
type Known struct {
	f        *FS // its limits and names; it follows nothing
	base     *state
	needed   map[uint64]bool // by the address of a page, as far as it was asked
	next     *state          // the state compared last
	logNames *change.Names
}

var _ interp.Known = (*Known)(nil)

// NewKnown reads a state as a baseline. The errors are those of New.
func NewKnown(d interp.Disk) (interp.Known, error) {
	f, devs, err := open(d, first(d), interp.Limits{})
	if err != nil {
		return nil, err
	}
	base, err := f.attach(devs)
	if err != nil {
		return nil, err
	}
	return &Known{f: f, base: base, needed: make(map[uint64]bool), logNames: change.NewNames()}, nil
}

// Compare compares what the superblock of a fork leads to, which is the first: mount looks at no other.
func (k *Known) Compare(fork interp.Fork) (interp.Observation, error) {
	k.next = nil
	k.f.release()
	obs, err := k.compare(fork)
	return refused(obs, err)
}

func (k *Known) compare(fork interp.Fork) (obs interp.Observation, err error) {
	obs.Point = interp.CommitPoint
	devs, err := findDevices(fork, k.f.sizes, 0)
	if errors.Is(err, interp.ErrNotFound) {
		err = violatedAt(superRule, superOffset, "there is none")
	}
	if err != nil {
		return obs, err
	}
	sb, start := devs.newest()
	obs.Generation = sb.generation()
	old := k.base.sb
	if err := sb.checkUnchanged(old, start+superOffset); err != nil {
		return obs, err
	}
	lost := fork.Differing(k.needs)
	var s *state
	switch {
	case sb.generation() < old.generation():
		return obs, interp.ErrApart
	case sb.generation() == old.generation():
		s, err = k.sameCommit(fork, sb, start, devs, lost)
		obs.Point = interp.NoPoint
	default:
		s, err = k.newCommit(fork, sb, start, devs, lost, &obs)
	}
	if err != nil || len(obs.Violations) > 0 || obs.Unknown != nil {
		return obs, err
	}
	if _, ok := sb.logPointer(); ok {
		if obs.Point == interp.NoPoint {
			obs.Point = interp.LogPoint
		}
		k.f.names, k.logNames = k.logNames, k.f.names // those of the trees are in use
		r := k.f.readLog(s, sb, nil)
		k.f.names, k.logNames = k.logNames, k.f.names
		if obs.Violations, obs.Unknown = r.faults, r.err; len(obs.Violations) > 0 || obs.Unknown != nil {
			obs.Txn, obs.View = nil, nil
			return obs, nil //nolint:nilerr // what could not be read is told by the observation
		}
		obs.Logs = r.parts
	}
	k.next = s
	return obs, nil
}

// refused puts an error into an observation, where it is a violation.
func refused(obs interp.Observation, err error) (interp.Observation, error) {
	e, ok := errors.AsType[*structureError](err)
	if !ok {
		return obs, err
	}
	obs.Point = interp.CommitPoint
	obs.Violations = append(obs.Violations, e.v)
	return obs, nil
}

// needs tells whether a page holds a part of a block that the known commit needs.
func (k *Known) needs(addr uint64) bool {
	if known, ok := k.needed[addr]; ok {
		return known
	}
	found := false
	for p := range k.base.chunks.places(addr, interp.ForkPage) {
		if p.chunk.typ&(groupMetadata|groupSystem) == 0 {
			continue
		}
		err := k.base.eachTreeBlock(p.logical, p.logical+p.n, func(uint64) error { found = true; return nil })
		found = found || err != nil // what cannot be told counts as needed
	}
	k.needed[addr] = found
	return found
}

// sameCommit is the state of a fork on which no later commit has come.
func (k *Known) sameCommit(fork interp.Fork, sb superblock, start uint64, devs *devices, lost []uint64) (*state, error) {
	if !sb.sameTrees(k.base.sb) {
		return nil, violatedAt(superRule, start+superOffset, "the roots of the trees changed and the generation stayed %d", sb.generation())
	}
	if len(lost) > 0 {
		return nil, violatedAt(baseRule, lost[0], "a block that the commit of generation %d needs is overwritten", sb.generation())
	}
	s := *k.base
	s.sb, s.devs, s.disk, s.cache, s.roots = sb, devs, fork, k.base.cache.fork(fork.Same), make(map[treeKey]treeRoot)
	return &s, nil
}

// newCommit compares the state of a later commit with the known one. Blocks that both have must have stayed as they are.
func (k *Known) newCommit(fork interp.Fork, sb superblock, start uint64, devs *devices, lost []uint64, obs *interp.Observation) (*state, error) {
	old := *k.base
	old.roots = make(map[treeKey]treeRoot)
	k.f.names.Reset()
	c := comparison{base: &old, sb: sb, at: start + superOffset, disk: fork, devs: devs, cache: k.base.cache.fork(fork.Same), names: k.f.names, room: k.f.room}
	s, d, err := c.run()
	if err != nil {
		return nil, err
	}
	if d.failed() {
		obs.Violations = d.faults
		if d.unknown != nil {
			obs.Unknown = fmt.Errorf("the commit of generation %d: %w", sb.generation(), d.unknown)
		}
		return nil, nil
	}
	for _, addr := range lost {
		if err := k.checkShared(s, addr); err != nil {
			return nil, err
		}
	}
	obs.Txn, obs.View = d.out.txn, newView(s, k.f.names)
	return s, nil
}

// checkShared looks at a page that the known commit needs and that has changed: a later commit may not need it any more.
func (k *Known) checkShared(s *state, addr uint64) error {
	for p := range s.chunks.places(addr, interp.ForkPage) {
		if p.chunk.typ&(groupMetadata|groupSystem) == 0 {
			continue
		}
		err := s.eachTreeBlock(p.logical, p.logical+p.n, func(logical uint64) error {
			n, err := s.block(logical, groupMetadata|groupSystem, true)
			if err != nil {
				return err
			}
			if n.generation() <= k.base.sb.generation() {
				return violatedAt(baseRule, addr, "block %d, which the commits of generation %d and %d need, is overwritten", logical, k.base.sb.generation(), s.sb.generation())
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Follow takes over the state that was compared last.
func (k *Known) Follow(d interp.Disk, differing []uint64) {
	if k.next == nil {
		return
	}
	s, cache := *k.next, k.base.cache
	for _, addr := range differing {
		cache.forget(addr, interp.ForkPage)
	}
	s.disk, s.cache, s.roots = d, cache, make(map[treeKey]treeRoot)
	k.base, k.next = &s, nil
	clear(k.needed)
}
