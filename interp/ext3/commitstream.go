package ext3

import (
	"cmp"
	"hash/maphash"
	"slices"

	"fsward/change"
)

// A commitStream makes the records of a commit, whose structure is sound, from the plan of its
// comparison, in the same order. It reads the inodes, bitmaps, entries and blocks again.
type commitStream struct {
	*delta
	tally  *change.Tally
	groups []uint32 // that the transaction touched
	index  planIndex
	finds  finds
}

var _ change.Finder = (*commitStream)(nil)

func newCommitStream(d *delta) *commitStream {
	return &commitStream{delta: d, tally: &d.parts.tally, groups: d.groups.touched(),
		index: newPlanIndex(d), finds: finds{meter: change.NewWorkMeter(d.txn.Work)}}
}

func (s *commitStream) Names() *change.Names                    { return s.txn.Names }
func (s *commitStream) Work() *change.Work                      { return s.txn.Work }
func (s *commitStream) Len() int                                { return s.tally.Len() }
func (s *commitStream) Made(k change.Kind, f change.Field) bool { return s.tally.Made(k, f) }

// Each visits the records part by part, in the order of delta.run.
func (s *commitStream) Each(visit func(*change.Txn) error) error {
	s.Names().Reset()
	d := s.again(&records{txn: s.part(), beside: func() uint64 { return 0 },
		parts: &parts{take: visit}})
	steps := []func() error{d.superblock, func() error { return s.bits(d) },
		func() error { return s.trees(d) }, d.blockRecords, d.allOrphans, d.fieldRecords}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return d.handOn(0)
}

// part returns an empty part.
func (s *commitStream) part() *change.Txn {
	return &change.Txn{Schema: schema, Generation: s.txn.Generation, Names: s.Names()}
}

// bits makes the records of the inode bitmaps.
func (s *commitStream) bits(d *delta) error {
	for _, g := range s.groups {
		err := d.groups.inodeBits(g, func(ino uint32, set bool) error {
			d.inodeBit(ino, g, set)
			return d.tooMany()
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// trees makes the records of the inodes that name another extended attribute block, and of
// directory entries, inode by inode.
func (s *commitStream) trees(d *delta) error {
	changes := d.xattrChanges
	changesUpTo := func(before uint32) error {
		for ; len(changes) > 0 && changes[0].ino <= before; changes = changes[1:] {
			d.xattrRecords(changes[0])
			if err := d.tooMany(); err != nil {
				return err
			}
		}
		return nil
	}
	for k, dir := range d.entries.dirs {
		if err := changesUpTo(dir.ino); err != nil {
			return err
		}
		for i, end := d.entries.of(k); i < end; i++ {
			if err := d.inodes.dirs.changed(dir.ino, d.entries.list[i]); err != nil {
				return err
			}
			if err := d.tooMany(); err != nil {
				return err
			}
		}
	}
	return changesUpTo(d.Geo.Inodes)
}

// A planIndex finds the objects of a plan.
type planIndex struct {
	byHash  []uint32     // indexes of changed entries, in each directory in the order of their hashes
	seed    maphash.Seed // of the hashes
	sharers []sharer     // of blocks before or after the transaction, in order
	orphans numberSet    // inodes that came to the list of orphans or left it
}

func newPlanIndex(d *delta) (x planIndex) {
	p := d.plan
	x.seed = d.inodes.dirs.names.seed
	came, gone := d.orphans.changed()
	for _, ino := range append(came, gone...) {
		x.orphans.add(ino)
	}
	x.byHash = make([]uint32, len(p.entries.list))
	for i := range x.byHash {
		x.byHash[i] = uint32(i)
	}
	for k := range p.entries.dirs {
		from, to := p.entries.of(k)
		slices.SortFunc(x.byHash[from:to], func(a, b uint32) int {
			return cmp.Compare(p.entries.list[a].hash, p.entries.list[b].hash)
		})
	}
	for _, s := range p.xattrChanges {
		for _, block := range []uint32{s.was, s.is} {
			if block != 0 {
				x.sharers = append(x.sharers, sharer{block, s.ino})
			}
		}
	}
	slices.SortFunc(x.sharers, sharer.compare)
	return x
}
