package reference

import (
	"github.com/ichiban/prolog/engine"

	"fsward/change"
	"fsward/invariants/ruleset"
)

// records holds the builtins that query the change records.
type records struct {
	input  *input
	budget *budget
	solver *solver
	index  recordIndex
	hashed NameIndex
}

// A chain groups the records of a transaction by a key: it has the first record of each group, and
// for each record the next one of its group. It costs one map entry per group and four bytes per
// record.
type chain[K comparable] struct {
	first map[K]int32
	next  []int32
}

// group returns the records with a key. The first call builds the chain.
func (c *chain[K]) group(key K, records []change.Record, keyOf func(*change.Record) K) group {
	if c.first == nil {
		c.first = make(map[K]int32)
		c.next = make([]int32, len(records))
		for i := len(records) - 1; i >= 0; i-- { // backwards, so that groups keep the order of records
			k := keyOf(&records[i])
			if head, ok := c.first[k]; ok {
				c.next[i] = head
			} else {
				c.next[i] = -1
			}
			c.first[k] = int32(i)
		}
	}
	if head, ok := c.first[key]; ok {
		return group{at: head, next: c.next}
	}
	return group{at: -1}
}

// A group iterates over records: those of one chain, or all of them if next is nil.
type group struct {
	at, end int32
	next    []int32
}

// take returns the current record and advances; ok is false at the end.
func (g *group) take() (i int32, ok bool) {
	i = g.at
	switch {
	case i < 0 || g.next == nil && i >= g.end:
		return 0, false
	case g.next == nil:
		g.at++
	default:
		g.at = g.next[i]
	}
	return i, true
}

type (
	objectKey struct {
		id, sub uint64
		kind    change.Kind
	}
	idKey struct {
		id   uint64
		kind change.Kind
	}
	fieldKey struct {
		kind  change.Kind
		field change.Field
	}
	valueKey struct {
		field change.Field
		value change.Value
	}
	idValueKey struct {
		id    uint64
		field change.Field
		value change.Value
	}
)

// recordIndex finds the records of a transaction by the parts that a goal knows. Each index is
// built when a rule first uses it.
type recordIndex struct {
	records  []change.Record
	byObject chain[objectKey]
	byIDKind chain[idKey]
	byID     chain[uint64]
	byKind   chain[fieldKey]
	byField  chain[change.Field]
	byNew    chain[valueKey]
	byOld    chain[valueKey]
	byPair   chain[change.Object]
	// Both, because an inode may have thousands of names, and thousands of inodes may have one
	// name.
	byIDNew chain[idValueKey]
	byIDOld chain[idValueKey]
}

// wanted holds the known arguments of a call of change/5; values only if they are numbers, names or
// keys.
type wanted struct {
	ruleset.Pattern
	field      change.Field
	fieldBound bool
	old, new   change.Value
	oldBound   bool
	newBound   bool
}

// candidates returns a group that contains every record that can match. It prefers the most
// selective index: an object before a value, because all files of a directory may have one type.
func (x *recordIndex) candidates(w *wanted, shape change.Shape) group {
	object := w.ID.Bound && w.Kind != 0 && w.Sub.Bound
	switch {
	case object && w.Aux.Bound:
		return x.byPair.group(change.Object{ID: w.ID.N, Kind: w.Kind, Sub: w.Sub.N, Aux: w.Aux.N},
			x.records, func(r *change.Record) change.Object {
				return change.Object{ID: r.Object.ID, Kind: r.Object.Kind, Sub: r.Object.Sub, Aux: r.Object.Aux}
			})
	case object && shape != change.ShapePair:
		return x.objects(w)
	case w.ID.Bound && w.fieldBound && w.newBound:
		return x.byIDNew.group(idValueKey{w.ID.N, w.field, w.new}, x.records,
			func(r *change.Record) idValueKey {
				return idValueKey{r.Object.ID, r.Field, r.New}
			})
	case w.ID.Bound && w.fieldBound && w.oldBound:
		return x.byIDOld.group(idValueKey{w.ID.N, w.field, w.old}, x.records,
			func(r *change.Record) idValueKey {
				return idValueKey{r.Object.ID, r.Field, r.Old}
			})
	case object:
		return x.objects(w)
	case w.fieldBound && w.newBound:
		return x.byNew.group(valueKey{w.field, w.new}, x.records, func(r *change.Record) valueKey {
			return valueKey{r.Field, r.New}
		})
	case w.fieldBound && w.oldBound:
		return x.byOld.group(valueKey{w.field, w.old}, x.records, func(r *change.Record) valueKey {
			return valueKey{r.Field, r.Old}
		})
	case w.ID.Bound && w.Kind != 0:
		return x.byIDKind.group(idKey{w.ID.N, w.Kind}, x.records, func(r *change.Record) idKey {
			return idKey{r.Object.ID, r.Object.Kind}
		})
	case w.ID.Bound:
		return x.byID.group(w.ID.N, x.records, func(r *change.Record) uint64 { return r.Object.ID })
	case w.Kind != 0 && w.fieldBound:
		return x.byKind.group(fieldKey{w.Kind, w.field}, x.records, func(r *change.Record) fieldKey {
			return fieldKey{r.Object.Kind, r.Field}
		})
	case w.fieldBound:
		return x.byField.group(w.field, x.records, func(r *change.Record) change.Field { return r.Field })
	default:
		return group{end: int32(len(x.records))}
	}
}

// objects returns the records of one kind, id and sub.
func (x *recordIndex) objects(w *wanted) group {
	return x.byObject.group(objectKey{w.ID.N, w.Sub.N, w.Kind}, x.records,
		func(r *change.Record) objectKey {
			return objectKey{r.Object.ID, r.Object.Sub, r.Object.Kind}
		})
}

// change implements change(TREE, ID, FIELD, OLD, NEW): the records of the transaction.
func (r *records) change(_ *engine.VM, tree, id, field, old, new engine.Term, k engine.Cont,
	env *engine.Env) *engine.Promise {
	r.budget.last = lookup{"change/5", tree, id, env}
	if err := r.budget.spend(1); err != nil {
		return engine.Error(err)
	}
	v, names := r.input.vocabulary, r.input.txn.Names
	p, ok := v.Pattern(tree, id, names, env)
	if !ok {
		return engine.Bool(false)
	}
	w := wanted{Pattern: p}
	fieldTerm, oldTerm, newTerm := env.Resolve(field), env.Resolve(old), env.Resolve(new)
	if w.field, w.fieldBound = v.Field(fieldTerm, env); !w.fieldBound {
		if _, isAtom := fieldTerm.(engine.Atom); isAtom {
			return engine.Bool(false) // this file system has no such field
		}
	}
	w.old, w.oldBound = v.Value(oldTerm, names, env)
	w.new, w.newBound = v.Value(newTerm, names, env)
	candidates := r.index.candidates(&w, v.Shape(w.Kind))

	match := func(rec *change.Record) (*engine.Env, bool) {
		if w.fieldBound && w.field != rec.Field || !w.Matches(rec.Object) {
			return nil, false
		}
		e, ok := r.input.unifyValue(env, oldTerm, rec.Old, w.old, w.oldBound)
		if !ok {
			return nil, false
		}
		if e, ok = r.input.unifyValue(e, newTerm, rec.New, w.new, w.newBound); !ok {
			return nil, false
		}
		if !w.fieldBound && int(rec.Field) < len(v.FieldTerms) {
			if e, ok = e.Unify(fieldTerm, v.FieldTerms[rec.Field]); !ok {
				return nil, false
			}
		}
		return v.Unify(&w.Pattern, rec.Object, names, e)
	}
	return r.solver.solutions(k, func() (*engine.Env, bool, error) {
		for {
			i, ok := candidates.take()
			if !ok {
				return nil, false, nil
			}
			if err := r.budget.spend(1); err != nil {
				return nil, false, err
			}
			if e, ok := match(&r.input.txn.Records[i]); ok {
				return e, true, nil
			}
		}
	})
}
