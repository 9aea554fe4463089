package ext3

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"fsward/change"
	"fsward/interp"
	"fsward/interp/ext3/ondisk"
)

// A stream makes the records of a whole file system with a sound structure. It makes them again for
// each call of Each.
type stream struct {
	now    Snapshot
	seq    uint32 // number of the transaction that comes next
	dev    io.ReaderAt
	size   uint64 // size of the device, bytes
	names  *change.Names
	tally  change.Tally
	owners *ownerView
}

var _ change.Stream = (*stream)(nil)

func (s *stream) Names() *change.Names { return s.names }

func (s *stream) Len() int { return s.tally.Len() }

func (s *stream) Made(k change.Kind, f change.Field) bool { return s.tally.Made(k, f) }

// Each walks the file system again.
func (s *stream) Each(visit func(*change.Txn) error) error {
	s.names.Reset()
	p := &parts{take: func(t *change.Txn) error {
		s.owners.take(t.Records)
		return visit(t)
	}}
	d := newImageDiff(s.now, s.seq, s.dev, s.size, p, s.names)
	d.again, d.alone = true, &s.owners.disputed
	return d.run()
}

// stream puts a stream into an observation, once the structure has been found sound.
func (d *imageDiff) stream(seq uint32, dev io.ReaderAt, obs *interp.Observation) error {
	s := &stream{now: d.new, seq: seq, dev: dev, size: d.device, names: d.txn.Names,
		tally: d.parts.tally, owners: &ownerView{owners: d.owners}}
	if err := s.dispute(); err != nil {
		return err
	}
	obs.Stream = s
	obs.View = &view{Snapshot: d.new, names: s.names, orphan: d.onList.contains, owners: s.owners,
		parents: &d.parents}
	return nil
}

// owners holds the owners of the blocks of a file system whose records are not kept.
type owners struct {
	pointed  numberSet // blocks that a pointer names
	disputed numberSet // blocks that several pointers name, of files or of extended attributes
	sharers  []sharer  // of extended attribute blocks, in order; 8 bytes each
}

// A sharer is an inode that names an extended attribute block.
type sharer struct{ block, ino uint32 }

func (s sharer) compare(t sharer) int {
	return cmp.Or(cmp.Compare(s.block, t.block), cmp.Compare(s.ino, t.ino))
}

// sharersFrom returns those of sorted sharers that are not before one.
func sharersFrom(all []sharer, first sharer) []sharer {
	i, _ := slices.BinarySearchFunc(all, first, sharer.compare)
	return all[i:]
}

// An ownerView answers queries for the owners of a block that the present part has a record of, or
// that has several owners.
type ownerView struct {
	owners
	several map[uint32][]change.Object
	part    []change.Record // with the lengths of owners, in the order of their first blocks
	marked  []change.Record // with the runs of marked blocks of the part, in the order of these
}

// maxDisputed bounds the owners of disputed blocks that are kept. If there are more, the file
// system is known to be unsound.
const maxDisputed = 1 << 16

var errOwners = errors.New("ext3: the file system is too large to keep its records: " +
	"the owners of a block can be queried only beside a record of the block")

// dispute finds all owners of the blocks that have several. Such blocks are in runs of their own
// from now on, so that there are more records.
func (s *stream) dispute() error {
	v := s.owners
	if len(v.disputed.pages) == 0 {
		return nil
	}
	v.several = make(map[uint32][]change.Object)
	n := 0
	s.tally = change.Tally{}
	err := s.Each(func(t *change.Txn) error {
		s.tally.Add(t.Records)
		for i := range t.Records {
			if o := t.Records[i].Object; o.Kind == ondisk.KindOwner && n < maxDisputed &&
				t.Records[i].Field == change.FieldObject && v.disputed.has(uint32(o.ID)) {
				v.several[uint32(o.ID)] = append(v.several[uint32(o.ID)], o)
				n++
			}
		}
		return nil
	})
	for _, owners := range v.several {
		slices.SortFunc(owners, change.Object.Compare)
	}
	return err
}

// take notes the runs in the records of a part.
func (v *ownerView) take(records []change.Record) {
	v.part, v.marked = v.part[:0], v.marked[:0]
	for i := range records {
		switch r := &records[i]; {
		case r.Object.Kind == ondisk.KindOwner && r.Field == ondisk.FieldLength:
			v.part = append(v.part, *r)
		case r.Object.Kind == ondisk.KindBlock && r.Field == change.FieldObject:
			v.marked = append(v.marked, *r)
		}
	}
	slices.SortFunc(v.part, byBlock)
	slices.SortFunc(v.marked, byBlock)
}

func byBlock(a, b change.Record) int { return cmp.Compare(a.Object.ID, b.Object.ID) }

// at returns the record of a sorted list whose object has an ID; nil if there is none.
func at(list []change.Record, id uint64) *change.Record {
	i, ok := slices.BinarySearchFunc(list, id, func(r change.Record, id uint64) int {
		return cmp.Compare(r.Object.ID, id)
	})
	if !ok {
		return nil
	}
	return &list[i]
}

// length returns the length of a run of the part that begins with an owner; ok is false if there is
// none.
func (v *ownerView) length(o change.Object) (n change.Value, ok bool) {
	if v == nil {
		return n, false
	}
	r := at(v.part, o.ID)
	if r == nil || r.Object != o {
		return n, false
	}
	return r.New, true
}

// markedFrom returns the length of a run of marked blocks of the part; ok is false if none begins
// with the block.
func (v *ownerView) markedFrom(block uint32) (n uint32, ok bool) {
	if v == nil {
		return 0, false
	}
	r := at(v.marked, uint64(block))
	if r == nil {
		return 0, false
	}
	return uint32(r.Object.Sub), true
}

// of returns the owners of a block, of one kind, in order.
func (v *ownerView) of(k change.Kind, block uint64) (owners []change.Object, err error) {
	if block > math.MaxUint32 {
		return nil, nil
	}
	b := uint32(block)
	if k == ondisk.KindXattrOwner {
		for _, s := range sharersFrom(v.sharers, sharer{block: b}) {
			if s.block != b {
				break
			}
			owners = append(owners, change.Object{Kind: k, ID: block, Sub: uint64(s.ino)})
		}
		return owners, nil
	}
	if !v.pointed.has(b) {
		return nil, nil
	}
	if all, ok := v.several[b]; ok {
		return all, nil
	}
	r := at(v.part, block)
	switch {
	case v.disputed.has(b):
		return nil, fmt.Errorf("ext3: the blocks that several pointers name have more than %d owners",
			maxDisputed)
	case r == nil:
		return nil, errOwners
	}
	return []change.Object{r.Object}, nil
}
