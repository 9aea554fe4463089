package ext3

import (
	"cmp"
	"errors"
	"hash/maphash"
	"iter"
	"math"
	"slices"

	"fsward/change"
	"fsward/interp/ext3/ondisk"
)

// finds holds the deltas of calls of commitStream.Find, which may be nested.
type finds struct {
	meter change.WorkMeter // counts the records that are made
	idle  []*delta
	cache change.FindCache
}

// errFound ends a search whose visitor has found what it wants.
var errFound = errors.New("found")

// Find visits the records of the objects from lo to hi. The visitor may call Find.
func (s *commitStream) Find(lo, hi change.Object, visit func(*change.Record) bool) error {
	search := func(visit func(*change.Record) bool) error {
		q := &query{commitStream: s, out: s.idleDelta(), lo: lo, hi: hi, visit: visit}
		err := q.run()
		s.finds.idle = append(s.finds.idle, q.out)
		if errors.Is(err, errFound) {
			err = nil
		}
		return err
	}
	return s.finds.cache.Find(s.Names(), lo, hi, search, visit)
}

// idleDelta returns a delta that no call of Find uses.
func (s *commitStream) idleDelta() *delta {
	n := len(s.finds.idle)
	if n == 0 {
		return s.again(&records{txn: s.part()})
	}
	d := s.finds.idle[n-1]
	s.finds.idle = s.finds.idle[:n-1]
	return d
}

// A query makes the records of the objects from lo to hi for one call of Find. It looks only at
// objects that changed and that the plan finds by their numbers.
type query struct {
	*commitStream
	out    *delta // makes the records
	lo, hi change.Object
	visit  func(*change.Record) bool
}

func (q *query) run() error {
	if err := q.finds.meter.Spend(1); err != nil {
		return err
	}
	d := q.out
	switch q.lo.Kind {
	case ondisk.KindSuperblock:
		if q.lo.ID > 0 {
			return nil
		}
		return q.made(d.superblock())
	case ondisk.KindGroup:
		return q.each(&d.todo.groups, d.groups.compareFields)
	case ondisk.KindInode:
		return q.each(&d.todo.inodes, d.inodes.compareFields)
	case ondisk.KindInodeBit:
		return q.each(&d.todo.inodes, q.bit)
	case ondisk.KindXattrBlock:
		return q.each(&d.todo.xattrs, d.inodes.compareXattrBlock)
	case ondisk.KindOrphan:
		return q.each(&q.index.orphans, func(ino uint32) error { d.orphanRecords(ino); return nil })
	case ondisk.KindBlock, ondisk.KindOwner:
		return q.blocks()
	case ondisk.KindXattrOwner:
		return q.xattrOwners()
	case ondisk.KindDirent:
		return q.entries()
	}
	return nil
}

// each makes the records of those numbers of a set that are within the query.
func (q *query) each(set *numberSet, record func(n uint32) error) error {
	for n := range set.within(q.lo.ID, q.hi.ID) {
		if err := q.made(record(n)); err != nil {
			return err
		}
	}
	return nil
}

// made visits the records that were made, unless err says why they were not.
func (q *query) made(err error) error {
	txn := q.out.txn
	defer func() { txn.Records, q.out.faults = txn.Records[:0], nil }()
	if err == nil {
		err = q.finds.meter.Spend(int64(len(txn.Records)))
	}
	for i := 0; err == nil && i < len(txn.Records); i++ {
		if !q.visit(&txn.Records[i]) {
			err = errFound
		}
	}
	return err
}

// bit makes the records of a bit in an inode bitmap, if it changed.
func (q *query) bit(ino uint32) error {
	d := q.out
	g := (ino - 1) / d.Geo.InodesPerGroup
	was, err := false, error(nil)
	if !d.fresh(g) {
		was, err = d.old.marked(ino)
	}
	if err != nil {
		return err
	}
	is, err := d.new.marked(ino)
	if err == nil && was != is {
		d.inodeBit(ino, g, is)
	}
	return err
}

// blocks makes the records of blocks, or of pointers to them.
func (q *query) blocks() error {
	d := q.out
	i, _ := slices.BinarySearchFunc(d.pieces, q.lo.ID, func(b blockRun, block uint64) int {
		return cmp.Compare(uint64(b.first), block)
	})
	for _, b := range d.pieces[i:] {
		o := b.object()
		if o.ID > q.hi.ID {
			break
		}
		if o.Kind == q.lo.Kind {
			d.runRecords(b)
		}
		if err := q.made(nil); err != nil {
			return err
		}
	}
	return nil
}

// xattrOwners makes the records of inodes that name extended attribute blocks.
func (q *query) xattrOwners() error {
	d := q.out
	if q.lo.ID > math.MaxUint32 || q.lo.Sub > math.MaxUint32 {
		return nil
	}
	for _, s := range sharersFrom(q.index.sharers, sharer{uint32(q.lo.ID), uint32(q.lo.Sub)}) {
		if (change.Object{Kind: ondisk.KindXattrOwner, ID: uint64(s.block),
			Sub: uint64(s.ino)}).Compare(q.hi) > 0 {
			break
		}
		before, after, err := d.sides(s.ino)
		if err == nil {
			of := xattrChange{ino: s.ino}
			if before.acl() == s.block {
				of.was = s.block
			}
			if after.acl() == s.block {
				of.is = s.block
			}
			d.xattrRecords(of)
		}
		if err := q.made(err); err != nil {
			return err
		}
	}
	return nil
}

// entries makes the records of directory entries.
func (q *query) entries() error {
	dirs := q.out.plan.entries.dirs
	k, _ := slices.BinarySearchFunc(dirs, q.lo.ID, func(d changedDir, ino uint64) int {
		return cmp.Compare(uint64(d.ino), ino)
	})
	for ; k < len(dirs) && uint64(dirs[k].ino) <= q.hi.ID; k++ {
		places := q.byHandle(k)
		if q.lo.ID == q.hi.ID && q.lo.Sub == q.hi.Sub {
			places = q.named(k)
		}
		for c, err := range places {
			if err == nil {
				err = q.out.inodes.dirs.changed(dirs[k].ino, c)
			}
			if err := q.made(err); err != nil {
				return err
			}
		}
	}
	return nil
}

// named yields the changed entry of a directory that may have the name of the query.
func (q *query) named(k int) iter.Seq2[changedEntry, error] {
	return func(yield func(changedEntry, error) bool) {
		all := &q.out.plan.entries
		from, to := all.of(k)
		own := q.index.byHash[from:to]
		hash := short(maphash.String(q.index.seed, q.Names().At(q.lo.Sub)))
		i, _ := slices.BinarySearchFunc(own, hash, func(n, hash uint32) int {
			return cmp.Compare(all.list[n].hash, hash)
		})
		for ; i < len(own) && all.list[own[i]].hash == hash; i++ {
			if !yield(all.list[own[i]], nil) {
				return
			}
		}
	}
}

// byHandle yields the changed entries of a directory in the order of the handles of their names.
func (q *query) byHandle(k int) iter.Seq2[changedEntry, error] {
	return func(yield func(changedEntry, error) bool) {
		all := &q.out.plan.entries
		from, to := all.of(k)
		type handled struct {
			handle uint64
			place  uint32
		}
		list := make([]handled, 0, to-from)
		for i := from; i < to; i++ {
			name, _, _, err := q.out.inodes.dirs.read(all.list[i])
			if err != nil {
				yield(changedEntry{}, err)
				return
			}
			list = append(list, handled{q.Names().Handle(name), i})
		}
		slices.SortFunc(list, func(a, b handled) int { return cmp.Compare(a.handle, b.handle) })
		for _, h := range list {
			if !yield(all.list[h.place], nil) {
				return
			}
		}
	}
}
