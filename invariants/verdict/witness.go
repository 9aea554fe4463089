package verdict

import (
	"fsward/change"
	"fsward/invariants/ruleset"
)

const (
	maxWitness   = 16 // change records shown with a violation
	maxWitnessed = 32 // violations of a rule that are shown with records
)

// recordPlaces holds the indexes of up to maxWitness records.
type recordPlaces struct {
	n     int
	field change.Field // the field of all of them, in witnesses.named
	at    [maxWitness]int32
}

func (l *recordPlaces) add(i int32) {
	if l.n < maxWitness {
		l.at[l.n] = i
		l.n++
	}
}

// addWitnesses attaches the most relevant records to the first violations of each rule: those of
// the object itself, else those of its id, else those that name it. All texts share one string.
func (p *Report) addWitnesses(t *change.Txn, order []int32, out []change.Violation) {
	type shown struct {
		place   int // index in order and out
		records recordPlaces
	}
	var list []shown
	w := newWitnesses(t, p.vocabulary)
	n, rule := 0, int32(-1)
	for i, at := range order {
		f := &p.found[at]
		if n++; f.rule != rule {
			n, rule = 0, f.rule
		}
		if n >= maxWitnessed || f.text != 0 {
			continue
		}
		s := shown{i, w.beside(f)}
		if s.records.n == 0 {
			w.want(f.Object)
		}
		list = append(list, s)
	}
	w.pass()
	var text []byte
	var ends []int32
	for i := range list {
		s := &list[i]
		if s.records.n == 0 {
			s.records = w.of(p.found[order[s.place]].Object)
		}
		for _, at := range s.records.at[:s.records.n] {
			text = t.Schema.AppendRecord(text, t.Records[at], t.Names)
			ends = append(ends, int32(len(text)))
		}
	}
	all, from := string(text), int32(0)
	texts := make([]string, len(ends))
	for i, end := range ends {
		texts[i], from = all[from:end], end
	}
	for i := range list {
		s := &list[i]
		if n := s.records.n; n > 0 {
			out[s.place].Witness, texts = texts[:n:n], texts[n:]
		}
	}
}

// witnesses finds the records that concern objects in one pass, so that a large transaction with
// few violations needs no index. The maps hold indexes in lists.
type witnesses struct {
	txn     *change.Txn
	words   *ruleset.Vocabulary
	lists   []recordPlaces
	own     map[change.Object]int // records of the object itself
	related map[change.Object]int // records of the objects with the same object id, by that id
	// records whose new value names the object, all of one field: the least one
	named  map[change.Value]int
	filter [1 << 10]uint64 // of the low bits of object ids: most records concern other objects
}

func newWitnesses(t *change.Txn, v *ruleset.Vocabulary) *witnesses {
	return &witnesses{txn: t, words: v, own: map[change.Object]int{}, related: map[change.Object]int{},
		named: map[change.Value]int{}}
}

// bare removes the parts of an object that its identifier does not contain.
func (w *witnesses) bare(o change.Object) change.Object {
	if w.words.Shape(o.Kind) == change.ShapeKey {
		o.Aux = 0
	}
	return o
}

// group reduces an object to the parts that all objects of the same id share.
func (w *witnesses) group(o change.Object) change.Object {
	g := change.Object{Tree: o.Tree, ID: o.ID}
	if w.words.Schema.KindIsTree {
		g.Kind = o.Kind
	}
	return g
}

// beside returns the records of a finding's object if the record that started the search is one of
// them: they are adjacent.
func (w *witnesses) beside(f *Finding) (l recordPlaces) {
	records, i := w.txn.Records, int(f.Trigger)
	is := func(i int) bool {
		return i >= 0 && i < len(records) &&
			w.bare(records[i].Object) == f.Object
	}
	if !is(i) {
		return l
	}
	for is(i - 1) {
		i--
	}
	for ; is(i) && l.n < maxWitness; i++ {
		l.add(int32(i))
	}
	return l
}

// want makes pass collect the records of an object.
func (w *witnesses) want(o change.Object) {
	bare, group, key := w.bare(o), w.group(o), w.txn.Names.Key(o.ID, o.Kind, o.Sub)
	if _, ok := w.own[bare]; !ok {
		w.own[bare], w.named[key] = len(w.lists), len(w.lists)+1
		w.lists = append(w.lists, recordPlaces{}, recordPlaces{})
	}
	if _, ok := w.related[group]; !ok {
		w.related[group] = len(w.lists)
		w.lists = append(w.lists, recordPlaces{})
	}
	w.filter[o.ID>>6&1023] |= 1 << (o.ID & 63)
}

// pass collects the records of all wanted objects.
func (w *witnesses) pass() {
	if len(w.lists) == 0 {
		return
	}
	for i := range w.txn.Records {
		rec := &w.txn.Records[i]
		if id := rec.Object.ID; w.filter[id>>6&1023]&(1<<(id&63)) != 0 {
			if n, ok := w.own[w.bare(rec.Object)]; ok {
				w.lists[n].add(int32(i))
			}
			if n, ok := w.related[w.group(rec.Object)]; ok {
				w.lists[n].add(int32(i))
			}
		}
		if rec.New.Tag() != change.Key {
			continue
		}
		if id, _, _, _ := w.txn.Names.KeyOf(rec.New); w.filter[id>>6&1023]&(1<<(id&63)) != 0 {
			if n, ok := w.named[rec.New]; ok {
				l := &w.lists[n]
				if l.n == 0 || rec.Field < l.field {
					l.n, l.field = 0, rec.Field
				}
				if rec.Field == l.field {
					l.add(int32(i))
				}
			}
		}
	}
}

// of returns the records found for an object.
func (w *witnesses) of(o change.Object) recordPlaces {
	own, related := w.own[w.bare(o)], w.related[w.group(o)]
	for _, n := range []int{own, related, own + 1} {
		if w.lists[n].n > 0 {
			return w.lists[n]
		}
	}
	return recordPlaces{}
}
