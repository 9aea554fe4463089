package compile

import (
	"errors"

	"fsward/change"
	"fsward/invariants/syntax"
	"fsward/invariants/verdict"
)

// errFound ends the search when two workers judge at once: one worker then judges everything again.
var errFound = errors.New("something does not hold")

// violationOp reports a violation.
func violationOp(tree, id template) op {
	h, isKey := headOf(tree, id)
	return func(step) step {
		return func(m *machine) bool {
			if m.queue != nil {
				return m.fail(errFound)
			}
			c := m.clause
			if isKey {
				if o, ok := h.object(m); ok {
					return !m.report.Note(c.rule, c.clause, verdict.Finding{Object: o, Trigger: m.trigger}) &&
						m.fail(verdict.ErrStop)
				}
			}
			return !m.report.Add(c.rule, c.clause, m.build(tree), m.build(id), nil) &&
				m.fail(verdict.ErrStop)
		}
	}
}

// A head is violation(_, TREE, k(ID, KIND, SUB)) or violation(_, TREE, k(ID, KIND, a(SUB, AUX))).
type head struct {
	tree, id, kind, sub, aux headPart
	pair                     bool
}

// A headPart is a constant or a register.
type headPart struct {
	register int // −1 for the constant
	constant value
}

func (p *headPart) get(m *machine) value {
	if p.register < 0 {
		return p.constant
	}
	return m.r[p.register]
}

// headOf returns the head of a violation; ok is false if it has another form.
func headOf(tree, id template) (h head, ok bool) {
	part := func(p *headPart, t template) bool {
		switch t := t.(type) {
		case constant:
			*p = headPart{-1, value(t)}
			return true
		case register:
			*p = headPart{register: t.index}
			return true
		}
		return false
	}
	key, isKey := id.(compoundTemplate)
	if !isKey || key.functor != syntax.AtomK || len(key.args) != 3 ||
		!part(&h.tree, tree) || !part(&h.id, key.args[0]) || !part(&h.kind, key.args[1]) {
		return h, false
	}
	pair, isPair := key.args[2].(compoundTemplate)
	if !isPair {
		return h, part(&h.sub, key.args[2])
	}
	h.pair = true
	return h, pair.functor == syntax.AtomA && len(pair.args) == 2 && part(&h.sub, pair.args[0]) &&
		part(&h.aux, pair.args[1])
}

// object returns the object that the head names; ok is false if it names none.
func (h *head) object(m *machine) (o change.Object, ok bool) {
	tree, ok1 := h.tree.get(m).bits()
	id, ok2 := h.id.get(m).bits()
	kind, ok3 := m.kindOf(h.kind.get(m))
	if !ok1 || !ok2 || !ok3 {
		return o, false
	}
	o = change.Object{Tree: tree, ID: id, Kind: kind}
	sub := h.sub.get(m)
	switch shape := m.vocabulary.Shape(kind); {
	case shape == change.ShapeKey && !h.pair:
		o.Sub, ok = sub.bits()
	case shape == change.ShapePair && h.pair:
		aux, isNumber := h.aux.get(m).bits()
		o.Sub, ok = sub.bits()
		o.Aux, ok = aux, ok && isNumber
	case shape == change.ShapePair:
		o.Sub, o.Aux, ok = sub.n, sub.m, sub.tag == tagPair
	}
	return o, ok
}
