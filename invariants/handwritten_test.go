package invariants_test

import (
	stdcmp "cmp"
	"context"
	"hash/crc32"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fsward/change"
	"fsward/invariants"
	"fsward/shareddata"
)

// handwritten is rules 6, 12 and 17 of the thesis, written in Go over the same records and the same
// view. The compiled engine is measured against it.
type handwritten struct {
	txn                             *change.Txn
	view                            change.View
	inode, ref, item, index, extent change.Kind
	location                        change.Field
	fields                          [3]change.Field // name_len, name, location
	values                          [3]change.Value // of fields
	held                            map[[3]uint64]struct{}
	violations                      []handFinding
	err                             error // the first error of the view: facts in memory have none
	table                           *crc32.Table
}

// TestHandwritten checks that the handwritten rules give exactly the engine's answer.
func TestHandwritten(t *testing.T) {
	compare := func(name string, txn *change.Txn, view change.View) {
		e := compiledEngine(t, txn.Schema, thesisRules(t), invariants.Options{OpenVocabulary: true})
		v := e.Check(context.Background(), txn, view)
		hand := newHandwritten(txn, view)
		hand.check()
		if d := cmp.Diff(v.Violations, hand.report(e.Rules())); d != "" || hand.err != nil ||
			len(v.Violations) == 0 {
			t.Errorf("%s: %d violations (-compiled +hand-written, %v):\n%s", name, len(v.Violations),
				hand.err, d)
		}
	}
	for _, flat := range []bool{false, true} {
		g := generate(10_000, flat)
		compare("generated", g.txn, g)
	}
	for _, name := range []string{"tree-1k", "tree-10k", "flat-42k"} {
		f := loadFacts(t, shareddata.Path(t, "rules", name+".pl.zst"))
		compare(name, f.Txn, f.View)
	}
}

// A handFinding is an object that violates a rule, with the clause that found it.
type handFinding struct {
	clause int // index in handClauses
	object change.Object
}

// handClauses are the clauses of the rules: the index of their rule, and their source.
var handClauses = [...]struct {
	rule   int
	source string
}{
	overlapsPrevious: {0, "testdata/thesis.pl:9"}, overlapsNext: {0, "testdata/thesis.pl:16"},
	leftOver: {1, "testdata/thesis.pl:25"}, lacksInode: {1, "testdata/thesis.pl:30"},
	entryDisagrees: {2, "testdata/thesis.pl:54"}, refDisagrees: {2, "testdata/thesis.pl:60"},
}

const (
	overlapsPrevious = iota
	overlapsNext
	leftOver
	lacksInode
	entryDisagrees
	refDisagrees
)

func newHandwritten(t *change.Txn, v change.View) *handwritten {
	h := &handwritten{txn: t, view: v, held: map[[3]uint64]struct{}{},
		table: crc32.MakeTable(crc32.Castagnoli)}
	kind := func(name string) change.Kind { k, _ := t.Schema.KindByName(name); return k }
	h.inode, h.ref, h.item, h.index, h.extent = kind("inode_item"), kind("inode_ref"),
		kind("dir_item"), kind("dir_index"), kind("extent_item")
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

func (h *handwritten) found(clause int, o change.Object) {
	h.violations = append(h.violations, handFinding{clause, o})
}

// report returns the findings of check as the engine reports them: each object once for a rule,
// sorted, as text.
func (h *handwritten) report(rules []invariants.Rule) []change.Violation {
	slices.SortFunc(h.violations, func(a, b handFinding) int {
		if by := handClauses[a.clause].rule - handClauses[b.clause].rule; by != 0 {
			return by
		}
		return stdcmp.Or(a.object.Compare(b.object), a.clause-b.clause)
	})
	once := slices.CompactFunc(h.violations, func(a, b handFinding) bool {
		return handClauses[a.clause].rule == handClauses[b.clause].rule && a.object == b.object
	})
	out := make([]change.Violation, len(once))
	var id []byte
	for i, f := range once {
		c := &handClauses[f.clause]
		id = h.txn.Schema.AppendID(id[:0], f.object, h.txn.Names)
		out[i] = change.Violation{Rule: rules[c.rule].Name, Kind: change.ByRule, Doc: rules[c.rule].Doc,
			Source: c.source,
			Tree:   h.txn.Schema.TreeText(f.object), ID: string(id)}
	}
	return out
}

// check returns the objects that violate a rule, in the order of discovery. An object occurs once
// for each violation.
func (h *handwritten) check() []handFinding {
	for i := range h.txn.Records {
		r := &h.txn.Records[i]
		o := r.Object
		switch {
		case r.Field == change.FieldObject && r.Old.IsNull() && r.New == change.Present:
			h.added(o)
			if o.Kind == h.ref {
				h.triplet(refDisagrees, o, o.Tree, o.Sub, o.ID)
			}
		case r.Field == change.FieldObject && r.New == change.Present && o.Kind == h.ref:
			h.triplet(refDisagrees, o, o.Tree, o.Sub, o.ID)
		case r.Field == change.FieldObject && r.Old == change.Present && r.New.IsNull() &&
			o.Kind == h.inode && fileTree(o.Tree):
			lo := change.Object{Tree: o.Tree, ID: o.ID}
			hi := change.Object{Tree: o.Tree, ID: o.ID, Kind: math.MaxUint8, Sub: math.MaxUint64,
				Aux: math.MaxUint64}
			for left, err := range h.view.Scan(lo, hi) {
				if err != nil {
					h.err = err
					break
				}
				h.found(leftOver, left)
			}
		case r.Field == h.location && (o.Kind == h.item || o.Kind == h.index):
			if child, kind, sub, ok := h.txn.Names.KeyOf(r.New); ok && kind == h.inode && sub == 0 {
				h.triplet(entryDisagrees, o, o.Tree, o.ID, child)
			}
		}
	}
	return h.violations
}

func fileTree(t uint64) bool { return t == 5 || t >= 256 }

func (h *handwritten) added(o change.Object) {
	if o.Kind == h.extent {
		if p, ok, _ := h.view.Previous(o); ok && p.Kind == h.extent && o.ID < p.ID+p.Sub {
			h.found(overlapsPrevious, o)
		}
		if n, ok, _ := h.view.Next(o); ok && n.Kind == h.extent && n.ID < o.ID+o.Sub {
			h.found(overlapsNext, o)
		}
	}
	if fileTree(o.Tree) && o.Kind != h.inode {
		if ok, _ := h.view.Exists(change.Object{Tree: o.Tree, ID: o.ID, Kind: h.inode}); !ok {
			h.found(lacksInode, o)
		}
	}
}

func (h *handwritten) triplet(clause int, o change.Object, tree, parent, child uint64) {
	key := [3]uint64{tree, parent, child}
	if _, ok := h.held[key]; ok {
		return
	}
	if h.agrees(tree, parent, child) {
		h.held[key] = struct{}{}
	} else {
		h.found(clause, o)
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
		if h.entry(change.Object{Tree: tree, ID: parent, Kind: h.item, Sub: uint64(hash)}, location,
			length, name) &&
			h.entry(change.Object{Tree: tree, ID: parent, Kind: h.index, Sub: ref.Aux}, location, length,
				name) {
			return true
		}
	}
	return false
}

func (h *handwritten) names(ref change.Object) (length, name change.Value) {
	h.err = stdcmp.Or(h.err, h.view.Values(ref, h.fields[:2], h.values[:2]))
	return h.values[0], h.values[1]
}

func (h *handwritten) entry(o change.Object, location, length, name change.Value) bool {
	h.err = stdcmp.Or(h.err, h.view.Values(o, h.fields[:], h.values[:]))
	return h.values == [3]change.Value{length, name, location}
}
