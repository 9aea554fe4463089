package btrfs

import (
	"errors"
	"slices"

	"fsward/change"
	"fsward/interp"
	"fsward/interp/btrfs/ondisk"
)

// A recorder turns differing items into change records. It gathers items between which objects can
// move, and compares them as one group. A back reference may move from an extent item to an item of
// its own, and a name from one inode_extref to another; neither is a change.
type recorder struct {
	txn        *change.Txn
	dec        decoder // of the new state
	oldDec     decoder
	group      ondisk.Key // of the items gathered in the decoders
	gathered   bool
	settleAt   int // the number of gathered objects at which the settled ones are written
	growFrom   int // the number of records from which growSpare is kept
	memory     *interp.MemoryBudget
	otherBytes uint64 // of memory that the comparison takes besides records
	// drop: when the memory does not suffice, drop the records, and check only the structure of the
	// remaining items.
	drop    bool
	dropped bool
	tally   change.Tally // of the dropped records
	// sink, if not nil, receives the records part by part, and removes them.
	sink func(*change.Txn) error
}

// newRecorder returns a recorder that appends to txn. ctx is the context of the new state.
func newRecorder(txn *change.Txn, ctx itemContext) *recorder {
	// The old state was accepted when it was new. Its decoder does not check it against the new
	// chunks.
	oldCtx := ctx
	oldCtx.chunks, oldCtx.where = nil, nil
	builder := objectBuilder{names: txn.Names}
	return &recorder{
		txn:      txn,
		dec:      decoder{ctx: ctx, objectBuilder: builder},
		oldDec:   decoder{ctx: oldCtx, objectBuilder: builder},
		settleAt: settleFrom,
		growFrom: growFrom,
	}
}

// begin starts the records of a tree.
func (r *recorder) begin(tree uint64) {
	r.dec.tree, r.oldDec.tree, r.gathered = tree, tree, false
	r.dec.reset()
	r.oldDec.reset()
}

// recordsOf estimates the number of records of a new item of each type.
var recordsOf = func() (m [256]int) {
	for i := range ondisk.ItemTypes[:ondisk.KindSuperBlock] {
		t := &ondisk.ItemTypes[i]
		if i == 0 {
			continue
		}
		n := 1
		for _, f := range t.Extra {
			switch f {
			case ondisk.FieldLink, ondisk.FieldLeaf, ondisk.FieldEndOffset: // view-only
			default:
				n++
			}
		}
		if t.Layout != nil {
			for _, f := range t.Layout.Fields {
				if f.Field != 0 && !f.ViewOnly {
					n++
				}
				for _, p := range f.Parts {
					if !p.ViewOnly {
						n++
					}
				}
			}
		}
		m[t.Type] = n
	}
	// Most extents have one back reference, inside their item.
	m[ondisk.ExtentItemKey] += m[ondisk.ExtentDataRefKey]
	m[ondisk.MetadataItemKey] += m[ondisk.TreeBlockRefKey]
	return m
}()

// inlineRecords is the number of records of an inline file extent. It has no fields from
// disk_bytenr on.
const inlineRecords = 5

// expectedRecords estimates the number of records of the items of a leaf if all were new.
func expectedRecords(n *ondisk.Node) (sum int) {
	for i := range n.NrItems() {
		typ := n.ItemType(i)
		_, length := n.ItemRange(i)
		size := int(length)
		if typ == ondisk.ExtentDataKey && size != ondisk.FileExtentSize {
			sum += inlineRecords
			continue
		}
		// A short item has fewer fields than its type suggests.
		sum += min(recordsOf[typ], 2+size/2)
	}
	return sum
}

// reserve allocates memory for about n more records. If it has to copy, it allocates up to a
// quarter more than there are, so that a transaction of many small trees is not copied once for
// each tree. If the memory does not suffice, and records may be dropped, it drops them now: it
// would have to do so in the end.
func (r *recorder) reserve(n int) {
	if r.sink != nil || r.dropped {
		return
	}
	have := len(r.txn.Records)
	if n <= cap(r.txn.Records)-have {
		return
	}
	if have+n > maxRecords || !r.holds(have+n) {
		if r.drop {
			r.dropRecords()
		}
		return
	}
	spare := r.memory.Spare(r.bytes(have)) / interp.RecordBytes
	room := max(n+n/16, int(min(uint64(have/4), spare)))
	r.txn.Records = interp.MoveRecords(r.txn.Records, have+room)
}

// bytes returns the memory of n records in bytes, with the names and the other memory of the
// comparison.
func (r *recorder) bytes(n int) uint64 {
	return r.otherBytes + uint64(n)*interp.RecordBytes + r.txn.Names.Bytes()
}

// holds reports whether the budget suffices for n records and the other memory of the comparison.
func (r *recorder) holds(n int) bool { return r.memory.Holds(r.bytes(n)) }

// super records the changes of the superblock. If old is nil, the superblock is new.
func (r *recorder) super(old, now *ondisk.Superblock) error {
	r.begin(ondisk.SuperObject.Tree)
	if old != nil {
		if err := r.oldDec.superBlock(*old); err != nil {
			return err
		}
	}
	if err := r.dec.superBlock(*now); err != nil {
		return err
	}
	r.gathered = true
	return r.flush()
}

// groupOf returns the first key of the items that may hold the same objects as an item with key k.
func groupOf(k ondisk.Key) ondisk.Key {
	switch {
	case k.Type >= ondisk.ExtentItemKey && k.Type <= ondisk.SharedDataRefKey:
		return ondisk.Key{ObjectID: k.ObjectID, Type: ondisk.ExtentItemKey}
	case k.Type == ondisk.InodeExtrefKey:
		return ondisk.Key{ObjectID: k.ObjectID, Type: ondisk.InodeExtrefKey}
	case k.Type == ondisk.ChunkItemKey: // chunk_stripe objects sort after all chunk_item objects
		return ondisk.Key{ObjectID: k.ObjectID, Type: ondisk.ChunkItemKey}
	default:
		return k
	}
}

// lastOfGroup returns the last key of the items that may hold the same objects as an item with key
// k.
func lastOfGroup(k ondisk.Key) ondisk.Key {
	switch groupOf(k).Type {
	case ondisk.ExtentItemKey:
		return ondisk.Key{ObjectID: k.ObjectID, Type: ondisk.SharedDataRefKey, Offset: ^uint64(0)}
	case ondisk.InodeExtrefKey:
		return ondisk.Key{ObjectID: k.ObjectID, Type: ondisk.InodeExtrefKey, Offset: ^uint64(0)}
	default:
		return k
	}
}

// item gathers one differing item. The side that does not have the item is nil.
func (r *recorder) item(k ondisk.Key, old, now *itemRef) error {
	if g := groupOf(k); !r.gathered || g != r.group {
		if err := r.flush(); err != nil {
			return err
		}
		r.group, r.gathered = g, true
	}
	if err := r.settle(k); err != nil {
		return err
	}
	if old != nil {
		// A malformed item of the base is no fault of this transaction. It counts as empty.
		n := len(r.oldDec.ents)
		if err := r.oldDec.ref(old); err != nil {
			r.oldDec.ents = r.oldDec.ents[:n]
			if _, ok := errors.AsType[*interp.UnsupportedError](err); ok {
				return err
			}
		}
	}
	if now != nil {
		n := len(r.dec.ents)
		if err := r.dec.ref(now); err != nil {
			r.dec.ents = r.dec.ents[:n]
			return err
		}
	}
	return nil
}

// flush writes the records of the gathered group.
func (r *recorder) flush() error {
	if !r.gathered {
		return nil
	}
	r.gathered, r.settleAt = false, settleFrom
	sortEntities(r.dec.ents)
	sortEntities(r.oldDec.ents)
	err := r.write(r.oldDec.ents, r.dec.ents)
	r.dec.reset()
	r.oldDec.reset()
	return err
}

// write writes the records of gathered objects.
func (r *recorder) write(old, now []entity) error {
	err := r.checkUnique(now)
	r.compare(old, now)
	if err == nil {
		err = r.makeRoom()
	}
	return err
}

// sortEntities sorts entities by object, and those of one object by their place. Most slices are
// sorted already. The names of an inode in inode_extrefs are in the order of their hashes, and the
// objects in that of their indexes.
func sortEntities(ents []entity) {
	if !slices.IsSortedFunc(ents, entity.compare) {
		slices.SortFunc(ents, entity.compare)
	}
}

// checkUnique checks that no object occurs twice in a sorted slice.
func (r *recorder) checkUnique(ents []entity) (err error) {
	for i := 1; i < len(ents); i++ {
		if o := ents[i].obj; o == ents[i-1].obj {
			e := violated(uniqueRule, "the object occurs more than once")
			e.v.Tree, e.v.ID = ondisk.Schema.TreeText(o), ondisk.Schema.IDText(o, r.txn.Names)
			err = e
		}
	}
	return err
}

// compare writes the records of two sorted slices of entities.
func (r *recorder) compare(old, now []entity) {
	for len(now) > 0 || len(old) > 0 {
		var c int
		switch {
		case len(now) == 0:
			c = 1
		case len(old) == 0:
			c = -1
		default:
			c = now[0].obj.Compare(old[0].obj)
		}
		switch {
		case c < 0:
			r.recordOneSide(now[0], r.dec.vals, true)
		case c > 0:
			r.recordOneSide(old[0], r.oldDec.vals, false)
		default:
			r.recordUpdate(old[0], now[0])
		}
		if c <= 0 {
			now = now[1:]
		}
		if c >= 0 {
			old = old[1:]
		}
	}
}

// From growFrom records on, the slice of records grows before fewer than growSpare records fit into
// it. Objects that are written at once seldom have more. append would take the memory unasked.
const (
	growFrom  = 1 << 16
	growSpare = 1 << 10
)

// makeRoom returns an error if the records exceed the memory budget. With a sink, or if records may
// be dropped, it makes room instead.
func (r *recorder) makeRoom() error {
	if r.sink != nil {
		if len(r.txn.Records) < change.PartRecords {
			return nil
		}
		return r.sink(r.txn)
	}
	if n := len(r.txn.Records); n > r.growFrom && cap(r.txn.Records)-n < growSpare {
		r.reserve(growSpare)
		if !r.dropped && cap(r.txn.Records)-n < growSpare {
			// append would take a quarter more than the budget has.
			return r.overBudgetWith(n + growSpare)
		}
	}
	if !r.dropped {
		if err := r.overBudget(); err == nil || !r.drop {
			return err
		}
	}
	r.dropRecords()
	return nil
}

// dropRecords counts the records so far and removes them.
func (r *recorder) dropRecords() {
	r.dropped = true
	r.tally.Add(r.txn.Records)
	if cap(r.txn.Records) > 2*change.PartRecords {
		r.txn.Records = nil // free the memory of the records that were kept so far
	}
	r.txn.NextPart()
}

// overBudget returns an error if the records exceed the memory budget or their limit.
func (r *recorder) overBudget() error { return r.overBudgetWith(len(r.txn.Records)) }

// overBudgetWith returns an error if n records exceed the memory budget or their limit.
func (r *recorder) overBudgetWith(n int) error {
	if n > maxRecords {
		return &budgetError{"change records", maxRecords}
	}
	if !r.holds(n) {
		return r.memory.Full()
	}
	return nil
}

// recordOneSide writes the records of an object that was added or deleted.
func (r *recorder) recordOneSide(e entity, vals []fieldValue, added bool) {
	if added {
		r.txn.Add(e.obj)
	} else {
		r.txn.Delete(e.obj)
	}
	for _, v := range vals[e.from:e.to] {
		if v.viewOnly {
			continue
		}
		rec := change.Record{Object: e.obj, Field: v.field}
		if added {
			rec.New = v.value
		} else {
			rec.Old = v.value
		}
		r.txn.Append(rec)
	}
}

// recordUpdate writes the records of the changed fields of an object, and nothing if none changed.
func (r *recorder) recordUpdate(old, now entity) {
	oldLeaves, news := r.oldDec.vals[old.from:old.to], r.dec.vals[now.from:now.to]
	start := len(r.txn.Records)
	r.txn.Update(now.obj)
	for _, v := range news {
		if v.viewOnly {
			continue
		}
		if was := valueOf(oldLeaves, v.field); was != v.value {
			r.txn.Append(change.Record{Object: now.obj, Field: v.field, Old: was, New: v.value})
		}
	}
	for _, v := range oldLeaves {
		if !v.viewOnly && valueOf(news, v.field).IsNull() {
			r.txn.Append(change.Record{Object: now.obj, Field: v.field, Old: v.value})
		}
	}
	if len(r.txn.Records) == start+1 {
		r.txn.Records = r.txn.Records[:start]
	}
}

// valueOf returns the value of a field, or the null value.
func valueOf(vals []fieldValue, f change.Field) change.Value {
	for i := range vals {
		if vals[i].field == f {
			return vals[i].value
		}
	}
	return change.Value{}
}
