package btrfs

import (
	"math"

	"fsward/change"
	"fsward/interp"
	"fsward/interp/btrfs/ondisk"
)

// deliver adds the difference to an observation: as a transaction, or as a stream if its records
// did not fit into memory.
func (d *diff) deliver(v *view, obs *interp.Observation) {
	obs.View = v
	if !d.out.dropped {
		obs.Txn = d.out.txn
		return
	}
	d.lendToCache()
	if !d.kept.streams {
		d.out.tally.Add(d.out.txn.Records)
		d.out.txn.Records = nil
		image := &stream{state: d.new, names: d.out.txn.Names, view: v, tally: &d.out.tally}
		if obs.Stream = image; len(d.kept.trees) > 0 {
			obs.Stream = &imageStream{d.stream(), image}
		}
		return
	}
	obs.Stream = d.stream()
}

// logPart returns the difference of a tree of the log, if there is any. v is the state after it.
func (d *diff) logPart(v *view) (p interp.Part, ok bool) {
	if !d.out.dropped {
		return interp.Part{Txn: d.out.txn, View: v}, len(d.out.txn.Records) > 0
	}
	s := d.stream()
	s.log = true
	return interp.Part{Stream: s, View: v}, true
}

// stream returns a stream of the records that were dropped.
func (d *diff) stream() *commitStream {
	d.out.tally.Add(d.out.txn.Records)
	d.out.txn.Records = nil
	s := &commitStream{old: withRecent(d.old), new: withRecent(d.new),
		trees: make(map[uint64]*treeLeaves),
		order: d.kept.trees, names: d.out.txn.Names, tally: &d.out.tally, work: d.out.txn.Work,
		finds: finds{meter: change.NewWorkMeter(d.out.txn.Work)}}
	for _, l := range d.kept.trees {
		s.trees[l.tree] = l
		if l.from == d.old {
			l.from = s.old
		} else {
			l.from = s.new
		}
	}
	return s
}

// lendToCache lets the cache use half of the memory that the records would have taken. What rules
// keep of the look-ups of a stream takes some of the rest.
func (d *diff) lendToCache() {
	spare := d.out.memory.Spare(d.out.bytes(0) + d.kept.bytes)
	if spare < math.MaxUint64 {
		d.new.cache.grow(spare / 2)
	}
}

// withRecent returns a state with its own cache of recent nodes, or nil for nil.
func withRecent(s *state) *state {
	if s == nil {
		return nil
	}
	own := *s
	own.recent = &recentNodes{}
	return &own
}

// A commitStream makes the records of a commit, whose structure is sound. It keeps the places of
// the leaves in which the old and the new trees differ, and compares them again at each call.
type commitStream struct {
	old, new *state // old is nil if everything is new
	log      bool   // the states are those of a log, which has no superblock of its own
	trees    map[uint64]*treeLeaves
	order    []*treeLeaves // trees in the order of their records
	names    *change.Names
	tally    *change.Tally
	work     *change.Work // may be nil
	finds    finds
}

var _ change.Finder = (*commitStream)(nil)

func (s *commitStream) Names() *change.Names                    { return s.names }
func (s *commitStream) Work() *change.Work                      { return s.work }
func (s *commitStream) Len() int                                { return s.tally.Len() }
func (s *commitStream) Made(k change.Kind, f change.Field) bool { return s.tally.Made(k, f) }

// Each visits the records part by part, in the order of diff.diffTrees.
func (s *commitStream) Each(visit func(*change.Txn) error) error {
	s.names.Reset()
	out := s.recorder(eachPart(visit))
	if err := s.super(out); err != nil {
		return err
	}
	for _, l := range s.order {
		if err := s.record(out, l, keyInterval{}); err != nil {
			return err
		}
	}
	return out.sink(out.txn)
}

// recorder returns a recorder that passes its records to sink.
func (s *commitStream) recorder(sink func(*change.Txn) error) *recorder {
	txn := &change.Txn{Schema: ondisk.Schema, Generation: s.new.sb.Generation(), Names: s.names}
	r := newRecorder(txn, s.new.itemContext())
	switch {
	case s.log: // as in logReader.start
	case s.old != nil: // as in comparison.run
		r.oldDec.ctx.where = s.old.chunks
	default: // as in diff.readChunks
		r.oldDec.ctx.where = s.new.chunks
	}
	r.sink = sink
	return r
}

// super makes the records of the superblock.
func (s *commitStream) super(out *recorder) error {
	if s.log {
		return nil
	}
	if s.old == nil {
		return out.super(nil, &s.new.sb)
	}
	return out.super(&s.old.sb, &s.new.sb)
}

// record makes the records of the items of a tree with keys in some intervals, in their order.
func (s *commitStream) record(out *recorder, l *treeLeaves, intervals ...keyInterval) error {
	out.begin(l.tree)
	for _, keys := range intervals {
		near := &treeLeaves{tree: l.tree, from: l.from, new: from(l.new, keys.from),
			old: from(l.old, keys.from)}
		if err := near.merge(s.new, keys, out.item); err != nil {
			return err
		}
	}
	return out.flush()
}
