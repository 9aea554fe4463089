package invariants

import (
	"fsward/change"
)

// witness holds the records that bear on an object, each list up to maxWitness.
type witness struct {
	own     []int32 // of the object itself
	related []int32 // of the objects with the same object id
	named   []int32 // those whose new value names the object, all of one field
	field   change.Field
	key     change.Value
}

// witnesses finds the records for all objects with a violation in one pass, so that a large transaction with
// few violations needs no index.
func (p *report) witnesses() map[change.Object]*witness {
	r := p.run
	of := map[change.Object]*witness{}
	byID := map[uint64][]change.Object{}
	var filter [1 << 10]uint64 // of the low bits of object ids, as nearly all records are of others
	for _, f := range p.found {
		o := f.object
		if _, again := of[o]; again || o == (change.Object{}) {
			continue
		}
		of[o] = &witness{key: r.txn.Names.Key(o.ID, o.Kind, o.Sub)}
		byID[o.ID] = append(byID[o.ID], o)
		filter[o.ID>>6&1023] |= 1 << (o.ID & 63)
	}
	if len(of) == 0 {
		return of
	}
	for i := range r.txn.Records {
		rec := &r.txn.Records[i]
		if id := rec.Object.ID; filter[id>>6&1023]&(1<<(id&63)) != 0 {
			for _, o := range byID[id] {
				of[o].add(r, o, rec, int32(i))
			}
		}
		if rec.New.Tag() != change.Key {
			continue
		}
		if id, _, _, _ := r.txn.Names.KeyOf(rec.New); filter[id>>6&1023]&(1<<(id&63)) != 0 {
			for _, o := range byID[id] {
				of[o].addNamed(rec, int32(i))
			}
		}
	}
	return of
}

// add notes a record with the id of the object.
func (w *witness) add(r *run, o change.Object, rec *change.Record, i int32) {
	same := rec.Object
	if r.vocabulary.shape(o.Kind) == change.ShapeKey {
		same.Aux = o.Aux // not written in the identifier
	}
	if same == o && len(w.own) < maxWitness {
		w.own = append(w.own, i)
	}
	if rec.Object.Tree == o.Tree && (!r.vocabulary.schema.KindIsTree || rec.Object.Kind == o.Kind) && len(w.related) < maxWitness {
		w.related = append(w.related, i)
	}
}

// addNamed notes a record whose new value may name the object; the least field is kept.
func (w *witness) addNamed(rec *change.Record, i int32) {
	if rec.New != w.key {
		return
	}
	if len(w.named) == 0 || rec.Field < w.field {
		w.named, w.field = w.named[:0], rec.Field
	}
	if rec.Field == w.field && len(w.named) < maxWitness {
		w.named = append(w.named, i)
	}
}

// texts writes the records that tell most: those of the object, else those of its id, else those that name it.
func (w *witness) texts(r *run) (texts []string) {
	if w == nil {
		return nil
	}
	list := w.own
	if len(list) == 0 {
		list = w.related
	}
	if len(list) == 0 {
		list = w.named
	}
	for _, i := range list {
		texts = append(texts, r.vocabulary.schema.RecordText(r.txn.Records[i], r.txn.Names))
	}
	return texts
}
