package invariants

import (
	"fsward/change"
)

// witnesses holds the records that bear on the objects with a violation, each list up to maxWitness.
type witnesses struct {
	run     *run
	own     map[change.Object][]int32 // of the object itself
	related map[change.Object][]int32 // of the objects with the same object id, by that alone
	named   map[change.Value]*namedBy // those whose new value names the object
}

// namedBy are records of one field, the least that there is.
type namedBy struct {
	field change.Field
	list  []int32
}

// bare leaves out of an object what its identifier does not say.
func (w *witnesses) bare(o change.Object) change.Object {
	if w.run.vocabulary.shape(o.Kind) == change.ShapeKey {
		o.Aux = 0
	}
	return o
}

// group leaves of an object what those with the same object id share.
func (w *witnesses) group(o change.Object) change.Object {
	g := change.Object{Tree: o.Tree, ID: o.ID}
	if w.run.vocabulary.schema.KindIsTree {
		g.Kind = o.Kind
	}
	return g
}

// witnesses finds the records for all violations in one pass, so that a large transaction with few violations
// needs no index.
func (p *report) witnesses() *witnesses {
	r := p.run
	w := &witnesses{r, map[change.Object][]int32{}, map[change.Object][]int32{}, map[change.Value]*namedBy{}}
	var filter [1 << 10]uint64 // of the low bits of object ids, as nearly all records are of others
	for _, f := range p.found {
		o := f.object
		if o == (change.Object{}) {
			continue
		}
		w.own[w.bare(o)], w.related[w.group(o)] = nil, nil
		w.named[r.txn.Names.Key(o.ID, o.Kind, o.Sub)] = &namedBy{}
		filter[o.ID>>6&1023] |= 1 << (o.ID & 63)
	}
	if len(w.own) == 0 {
		return w
	}
	for i := range r.txn.Records {
		rec := &r.txn.Records[i]
		if id := rec.Object.ID; filter[id>>6&1023]&(1<<(id&63)) != 0 {
			addTo(w.own, w.bare(rec.Object), int32(i))
			addTo(w.related, w.group(rec.Object), int32(i))
		}
		if rec.New.Tag() != change.Key {
			continue
		}
		if id, _, _, _ := r.txn.Names.KeyOf(rec.New); filter[id>>6&1023]&(1<<(id&63)) != 0 {
			w.named[rec.New].add(rec.Field, int32(i))
		}
	}
	return w
}

func addTo(lists map[change.Object][]int32, o change.Object, i int32) {
	if list, ok := lists[o]; ok && len(list) < maxWitness {
		lists[o] = append(list, i)
	}
}

func (n *namedBy) add(f change.Field, i int32) {
	if n == nil {
		return
	}
	if len(n.list) == 0 || f < n.field {
		n.list, n.field = n.list[:0], f
	}
	if f == n.field && len(n.list) < maxWitness {
		n.list = append(n.list, i)
	}
}

// texts writes the records that tell most of an object: its own, else those of its id, else those that name it.
func (w *witnesses) texts(o change.Object) (texts []string) {
	if o == (change.Object{}) {
		return nil
	}
	list := w.own[w.bare(o)]
	if len(list) == 0 {
		list = w.related[w.group(o)]
	}
	if len(list) == 0 {
		list = w.named[w.run.txn.Names.Key(o.ID, o.Kind, o.Sub)].list
	}
	for _, i := range list {
		texts = append(texts, w.run.vocabulary.schema.RecordText(w.run.txn.Records[i], w.run.txn.Names))
	}
	return texts
}
