package btrfs

import (
	"errors"
	"slices"

	"fsward/change"
	"fsward/interp"
	"fsward/interp/btrfs/ondisk"
)

// A recorder turns differing items into change records. Items that can hand objects to each other
// are taken together: a back reference may move from inside an extent item to an item of its own
// without being a change, and so may a name between two inode_extrefs.
type recorder struct {
	txn        *change.Txn
	dec        decoder // of the new state
	oldDec     decoder
	group      ondisk.Key // of the items gathered in the decoders
	gathered   bool
	memory     *interp.MemoryBudget
	otherBytes uint64 // bytes that the comparison takes beside records
	// drop: where there is no room for records, they are dropped, and what comes is checked for its
	// structure alone.
	drop    bool
	dropped bool
	tally   change.Tally // of those that were dropped
	// part, if not nil, takes the records part by part.
	sink func(*change.Txn) error
}

func newRecorder(txn *change.Txn, ctx itemContext) *recorder {
	// The old state was accepted when it was new; its decoder need not judge it by today's chunks.
	oldCtx := ctx
	oldCtx.chunks, oldCtx.where = nil, nil
	return &recorder{txn: txn, dec: decoder{ctx: ctx, objectBuilder: objectBuilder{names: txn.Names}},
		oldDec: decoder{ctx: oldCtx, objectBuilder: objectBuilder{names: txn.Names}}}
}

// begin starts a tree.
func (r *recorder) begin(tree uint64) {
	r.dec.tree, r.oldDec.tree, r.gathered = tree, tree, false
	r.dec.reset()
	r.oldDec.reset()
}

// recordsOf is about how many records an item of each type makes if it is new.
var recordsOf = func() (m [256]int) {
	for i := range ondisk.ItemTypes[:ondisk.KindSuperBlock] {
		t := &ondisk.ItemTypes[i]
		if i == 0 {
			continue
		}
		n := 1
		for _, f := range t.Extra {
			if f != ondisk.FieldLink && f != ondisk.FieldLeaf && f != ondisk.FieldEndOffset { // the View alone answers these
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
	// One back reference mostly stands in the item of its extent.
	m[ondisk.ExtentItemKey] += m[ondisk.ExtentDataRefKey]
	m[ondisk.MetadataItemKey] += m[ondisk.TreeBlockRefKey]
	return m
}()

// inlineRecords is how many records an extent makes whose data are in the item: the fields behind
// them are none.
const inlineRecords = 5

// records is about how many records the items of a leaf would make if all were new.
func expectedRecords(n *ondisk.Node) (sum int) {
	for i := range n.NrItems() {
		typ := n.ItemType(i)
		_, length := n.ItemRange(i)
		size := int(length)
		if typ == ondisk.ExtentDataKey && size != ondisk.FileExtentSize {
			sum += inlineRecords
			continue
		}
		// An item makes no more records than its bytes have fields, whatever its type says.
		sum += min(recordsOf[typ], 2+size/2)
	}
	return sum
}

// expect makes room for about n more records, so that they need not be copied again and again.
func (r *recorder) reserve(n int) {
	if r.sink != nil || r.dropped {
		return
	}
	have := len(r.txn.Records)
	if n = min(n, maxRecords-have); n <= cap(r.txn.Records)-have ||
		!r.memory.Holds(r.otherBytes+uint64(have+n)*interp.RecordBytes+r.txn.Names.Bytes()) {
		return
	}
	records := make([]change.Record, have, have+n+n/16)
	copy(records, r.txn.Records)
	r.txn.Records = records
}

// super takes the superblocks; old is nil if there is none to compare with.
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
	case k.Type == ondisk.ChunkItemKey: // the stripes come behind all chunks
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

// item takes one differing item; old or now is nil if it has no other side.
func (r *recorder) item(k ondisk.Key, old, now *itemRef) error {
	if g := groupOf(k); !r.gathered || g != r.group {
		if err := r.flush(); err != nil {
			return err
		}
		r.group, r.gathered = g, true
	}
	if len(r.dec.ents)+len(r.oldDec.ents) > maxGroup {
		return &budgetError{"objects under one key", maxGroup}
	}
	if old != nil {
		// What is not well formed in the base is not this transaction's fault: it has no fields.
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

// flush writes the records of the group.
func (r *recorder) flush() error {
	if !r.gathered {
		return nil
	}
	r.gathered = false
	now, old := r.dec.ents, r.oldDec.ents
	byObject := func(a, b entity) int { return a.obj.Compare(b.obj) }
	if !slices.IsSortedFunc(now, byObject) {
		slices.SortStableFunc(now, byObject)
	}
	if !slices.IsSortedFunc(old, byObject) {
		slices.SortStableFunc(old, byObject)
	}
	var err error
	for i := 1; i < len(now); i++ {
		if now[i].obj == now[i-1].obj {
			e := violated(uniqueRule, "it is there more than once")
			e.v.Tree, e.v.ID = ondisk.Schema.TreeText(now[i].obj), ondisk.Schema.IDText(now[i].obj, r.txn.Names)
			err = e
		}
	}
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
	r.dec.reset()
	r.oldDec.reset()
	if err == nil {
		err = r.makeRoom()
	}
	return err
}

// full returns an error if there is no room for more, unless records can be dropped or handed
// on to make some.
func (r *recorder) makeRoom() error {
	if r.sink != nil {
		if len(r.txn.Records) < change.PartRecords {
			return nil
		}
		return r.handOver()
	}
	err := r.overBudget()
	r.dropped = r.dropped || err != nil && r.drop
	if !r.dropped {
		return err
	}
	r.tally.Add(r.txn.Records)
	if cap(r.txn.Records) > 2*change.PartRecords {
		r.txn.Records = nil // it once held what was kept
	}
	r.txn.NextPart()
	return nil
}

// handOn gives away the records so far.
func (r *recorder) handOver() error {
	defer r.txn.NextPart()
	return r.sink(r.txn)
}

func (r *recorder) overBudget() error {
	if len(r.txn.Records) > maxRecords {
		return &budgetError{"change records", maxRecords}
	}
	if !r.memory.Holds(r.otherBytes + uint64(len(r.txn.Records))*interp.RecordBytes + r.txn.Names.Bytes()) {
		return r.memory.Full()
	}
	return nil
}

// side writes an object that was added or deleted.
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

// both writes the fields of an object that changed, and nothing if none did.
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

// valueOf returns the value of a field, or Null.
func valueOf(vals []fieldValue, f change.Field) change.Value {
	for i := range vals {
		if vals[i].field == f {
			return vals[i].value
		}
	}
	return change.Value{}
}
