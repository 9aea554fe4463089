package invariants_test

import (
	"cmp"
	"hash/crc32"
	"math"

	"fsward/change"
)

// handwritten is rules 6, 12 and 17 of the thesis as a programmer writes them in Go, over the same records and
// the same view: what the compiled engine is measured against.
type handwritten struct {
	txn                             *change.Txn
	view                            change.View
	inode, ref, item, index, extent change.Kind
	location                        change.Field
	fields                          [3]change.Field // name_len, name, location
	values                          [3]change.Value // of fields
	held                            map[[3]uint64]struct{}
	violations                      []change.Object
	err                             error // the first of the view: facts in memory have none
	table                           *crc32.Table
}

func newHandwritten(t *change.Txn, v change.View) *handwritten {
	h := &handwritten{txn: t, view: v, held: map[[3]uint64]struct{}{}, table: crc32.MakeTable(crc32.Castagnoli)}
	kind := func(name string) change.Kind { k, _ := t.Schema.KindByName(name); return k }
	h.inode, h.ref, h.item, h.index, h.extent = kind("inode_item"), kind("inode_ref"), kind("dir_item"), kind("dir_index"), kind("extent_item")
	for i, f := range t.Schema.Fields {
		switch f {
		case "location":
			h.location, h.fields[2] = change.Field(i), change.Field(i)
		case "name":
			h.fields[1] = change.Field(i)
		case "name_len":
			h.fields[0] = change.Field(i)
		}
	}
	return h
}

// check returns the objects that violate a rule; one that violates several is in it several times.
func (h *handwritten) check() []change.Object {
	for i := range h.txn.Records {
		r := &h.txn.Records[i]
		o := r.Object
		switch {
		case r.Field == change.FieldObject && r.Old.IsNull() && r.New == change.Present:
			h.added(o)
			if o.Kind == h.ref {
				h.triplet(o, o.Tree, o.Sub, o.ID)
			}
		case r.Field == change.FieldObject && r.New == change.Present && o.Kind == h.ref:
			h.triplet(o, o.Tree, o.Sub, o.ID)
		case r.Field == change.FieldObject && r.Old == change.Present && r.New.IsNull() && o.Kind == h.inode && fileTree(o.Tree):
			lo := change.Object{Tree: o.Tree, ID: o.ID}
			hi := change.Object{Tree: o.Tree, ID: o.ID, Kind: math.MaxUint8, Sub: math.MaxUint64, Aux: math.MaxUint64}
			for left, err := range h.view.Scan(lo, hi) {
				if err != nil {
					h.err = err
					break
				}
				h.violations = append(h.violations, left)
			}
		case r.Field == h.location && (o.Kind == h.item || o.Kind == h.index):
			if child, kind, sub, ok := h.txn.Names.KeyOf(r.New); ok && kind == h.inode && sub == 0 {
				h.triplet(o, o.Tree, o.ID, child)
			}
		}
	}
	return h.violations
}

func fileTree(t uint64) bool { return t == 5 || t >= 256 }

func (h *handwritten) added(o change.Object) {
	if o.Kind == h.extent {
		if p, ok, _ := h.view.Previous(o); ok && p.Kind == h.extent && o.ID < p.ID+p.Sub {
			h.violations = append(h.violations, o)
		}
		if n, ok, _ := h.view.Next(o); ok && n.Kind == h.extent && n.ID < o.ID+o.Sub {
			h.violations = append(h.violations, o)
		}
	}
	if fileTree(o.Tree) && o.Kind != h.inode {
		if ok, _ := h.view.Exists(change.Object{Tree: o.Tree, ID: o.ID, Kind: h.inode}); !ok {
			h.violations = append(h.violations, o)
		}
	}
}

func (h *handwritten) triplet(o change.Object, tree, parent, child uint64) {
	key := [3]uint64{tree, parent, child}
	if _, ok := h.held[key]; ok {
		return
	}
	if h.agrees(tree, parent, child) {
		h.held[key] = struct{}{}
	} else {
		h.violations = append(h.violations, o)
	}
}

func (h *handwritten) agrees(tree, parent, child uint64) bool {
	lo := change.Object{Tree: tree, ID: child, Kind: h.ref, Sub: parent}
	hi := lo
	hi.Aux = math.MaxUint64
	location := h.txn.Names.Key(child, h.inode, 0)
	var refs []change.Object
	for ref, err := range h.view.Scan(lo, hi) {
		if err != nil {
			h.err = err
			break
		}
		refs = append(refs, ref)
	}
	for _, ref := range refs {
		var length, name change.Value
		if length, name = h.names(ref); length.IsNull() || name.IsNull() {
			continue
		}
		hash := ^crc32.Update(^uint32(0xfffffffe), h.table, []byte(h.txn.Names.Text(name)))
		if h.entry(change.Object{Tree: tree, ID: parent, Kind: h.item, Sub: uint64(hash)}, location, length, name) &&
			h.entry(change.Object{Tree: tree, ID: parent, Kind: h.index, Sub: ref.Aux}, location, length, name) {
			return true
		}
	}
	return false
}

func (h *handwritten) names(ref change.Object) (length, name change.Value) {
	h.err = cmp.Or(h.err, h.view.Values(ref, h.fields[:2], h.values[:2]))
	return h.values[0], h.values[1]
}

func (h *handwritten) entry(o change.Object, location, length, name change.Value) bool {
	h.err = cmp.Or(h.err, h.view.Values(o, h.fields[:], h.values[:]))
	return h.values == [3]change.Value{length, name, location}
}
