package compile

import (
	"github.com/ichiban/prolog/engine"

	"fsward/invariants/ruleset"
	"fsward/invariants/syntax"
)

// A chooser picks the next goal by the cost of goals.
type chooser struct{ vocabulary *ruleset.Vocabulary }

// The ranks of goals, the cheapest first. A goal that filters comes as soon as it can be called.
const (
	rankUnify    = iota
	rankTest     // a comparison
	rankFunction // is, crc32c
	// the changes of one field under one key: a look-up in a hash index, while a query searches a
	// tree
	rankRecord
	rankKey        // one object, by its whole key
	rankKeyGroup   // the objects of one key, or the neighbor of a key
	rankNegation   // a negation that looks up keys
	rankChange     // the changes of one object
	rankNarrow     // the objects of one pair of inode and directory
	rankValue      // changes by their value
	rankChangeID   // the changes of the objects with one id
	rankDirectoryV // entries of a directory by their value
	rankDirectory  // a directory
	rankObject     // all objects with one object id
	rankList       // the changes of one field of one kind of object
	rankLists      // the changes of one field, or of one kind
	rankAll        // all changes
	rankNever      // cannot be called yet
)

// choose picks the goal with the least rank among those that may come next. first says that no
// change starts the plan yet; branches is the number of paths into which the conjunction has split
// so far.
func (ch *chooser) choose(list []*goalInfo, e *bindings, first bool, branches int) (int, error) {
	best, bestRank := -1, rankNever
	var trigger = -1
	triggerRank := rankNever
	for i, g := range list {
		if !mayCome(list, i, e) {
			continue
		}
		rank := ch.rank(g.t, e)
		if i == 0 && rank == rankNever {
			rank = rankAll // the first goal of the text can be called now or never
		}
		if rank < bestRank {
			best, bestRank = i, rank
		}
		if !first {
			continue
		}
		q, _, _ := goalOfTemplate(e.walk(g.t))
		switch {
		case q == predChange && rank < triggerRank:
			trigger, triggerRank = i, rank
		case q == predOr && ch.specializes(g.t, i, list, e, branches):
			return i, nil
		}
	}
	switch {
	case best < 0:
		return 0, unsupportedf("the goals cannot be put into an order")
	case !first || bestRank <= rankUnify:
		return best, nil
	case trigger >= 0:
		return trigger, nil
	}
	for i, g := range list {
		if q, _, _ := goalOfTemplate(e.walk(g.t)); q == predOr && hasChange(e, g.t) &&
			mayCome(list, i, e) && g.plain {
			return i, nil
		}
	}
	return best, nil
}

// specializes reports whether a disjunction of constants gives a kind or field to a change that
// comes later.
func (ch *chooser) specializes(t template, at int, list []*goalInfo, e *bindings,
	branches int) bool {
	n := 0
	for _, b := range alternatives(e, t) {
		n++
		for _, c := range conjuncts(e, b) {
			q, args, ok := goalOfTemplate(c)
			if !ok || q.Name != atomEquals && q.Name != atomTrue ||
				q.Name == atomEquals && !e.constantOrFree(args[0], args[1]) {
				return false
			}
		}
	}
	if n*max(1, branches) > maxBranches {
		return false
	}
	found := false
	for i, g := range list {
		if i == at {
			continue
		}
		q, args, _ := goalOfTemplate(e.walk(g.t))
		if q != predChange {
			continue
		}
		e.free(t, func(v variable) {
			found = found || e.occurs(v, args[0]) || e.occurs(v, args[1]) || e.occurs(v, args[2])
		})
	}
	return found
}

// constantOrFree reports whether all templates are variables or constants.
func (e *bindings) constantOrFree(list ...template) bool {
	for _, t := range list {
		switch e.walk(t).(type) {
		case constant, variable:
		default:
			return false
		}
	}
	return true
}

// rank estimates the cost of a goal if it comes next.
func (ch *chooser) rank(t template, e *bindings) int {
	t = e.walk(t)
	q, args, ok := goalOfTemplate(t)
	if !ok {
		return rankNever
	}
	name := q.Name.String()
	if syntax.NumberOrders[name] != nil || syntax.TermOrders[name] != nil ||
		syntax.TermTests[name] != nil || name == `\=` {
		return rankTest
	}
	switch q {
	case predEqual, predFail:
		return rankUnify
	case predWhole:
		return rankTest
	case predIs:
		return rankIfGround(e, rankFunction, args[1])
	case predCrc32c:
		// a name that has no value in the text either is found by its hash: see choose
		return rankIfGround(e, rankFunction, args[0])
	case predBetween:
		return rankIfGround(e, rankDirectory, args[0], args[1])
	case predChange:
		return ch.rankChange(args, e)
	case predQuery2, predQuery4:
		return ch.rankQuery(args, e)
	case predPrevious, predNext, predAtOrBefore,
		predAtOrAfter:
		if r := ch.rankQuery(args[:2], e); r != rankKey && r != rankKeyGroup {
			return rankNever
		}
		return rankKeyGroup
	case predRange, predRangeDown:
		if !ch.rangeKnown(args, e) {
			return rankNever
		}
		return rankDirectory
	case predCount:
		return max(rankChangeID, min(rankObject, ch.rank(args[0], e)))
	case predSum:
		return max(rankChangeID, min(rankObject, ch.rank(args[1], e)))
	}
	if wrappers[q] {
		return rankChange
	}
	return ch.rankControl(t, q, args, e)
}

// rankIfGround returns the rank of a goal that can be called only if some arguments have values.
func rankIfGround(e *bindings, rank int, args ...template) int {
	for _, a := range args {
		if !e.ground(a) {
			return rankNever
		}
	}
	return rank
}

// rankControl estimates the cost of a goal that contains goals, or of a helper.
func (ch *chooser) rankControl(t template, q syntax.Indicator, args []template, e *bindings) int {
	switch q {
	case predAnd:
		return ch.rank(args[0], e)
	case predOr:
		if condition, ok := conditional(e, t); ok {
			return ch.rank(compoundTemplate{syntax.AtomNot, []template{condition}}, e)
		}
		worst := rankNegation
		for _, b := range alternatives(e, t) {
			if r := ch.rank(conjuncts(e, b)[0], e); r != rankNever {
				worst = max(worst, r)
			}
		}
		return worst
	case predThen, predOnce, predNot, predVerify:
		worst := rankNegation
		for _, c := range conjuncts(e, args[0]) {
			if r := ch.rank(c, e); r >= rankDirectory && r < rankNever {
				worst = rankDirectory
			}
		}
		return worst
	}
	return rankNegation // a helper, or a goal that emit refuses
}

// known reports which parts of an object are known.
func (ch *chooser) known(tree, id template, e *bindings) (k objectKnown) {
	v := ch.vocabulary
	isKnown := func(t template) bool {
		_, free := e.walk(t).(variable)
		return !free
	}
	k.tree = isKnown(tree)
	if v.Schema.KindIsTree {
		if c, ok := e.walk(tree).(constant); ok && c.tag == tagAtom {
			k.kind, k.shape = true, uint8(v.Shape(v.Kinds[engine.Atom(c.n)]))
			k.unique = v.Unique(v.Kinds[engine.Atom(c.n)])
		}
	}
	switch id := e.walk(id).(type) {
	case register, constant:
		k.id, k.sub, k.aux, k.kind = true, true, true, true
	case compoundTemplate:
		last := id.args[len(id.args)-1]
		k.id = isKnown(id.args[0])
		if id.functor == syntax.AtomK && len(id.args) == 3 {
			if c, ok := e.walk(id.args[1]).(constant); ok && c.tag == tagAtom {
				k.unique = v.Unique(v.Kinds[engine.Atom(c.n)])
			}
			k.kind = isKnown(id.args[1])
		}
		k.sub, k.aux = isKnown(last), true
		if pair, ok := e.walk(last).(compoundTemplate); ok && len(pair.args) == 2 {
			k.pair = true
			k.sub, k.aux = isKnown(pair.args[0]), isKnown(pair.args[1])
		}
	}
	return k
}

type objectKnown struct {
	tree, id, kind, sub, aux bool
	pair, unique             bool
	shape                    uint8
}

func (ch *chooser) rankQuery(args []template, e *bindings) int {
	k := ch.known(args[0], args[1], e)
	if !k.tree || !k.id {
		return rankNever
	}
	switch {
	case k.kind && k.sub && k.aux && (k.unique || k.pair || ch.vocabulary.Schema.KindIsTree):
		return rankKey
	case k.kind && k.sub && k.aux:
		return rankKeyGroup
	case k.kind && k.sub:
		return rankNarrow
	case k.kind && len(args) == 4 && e.ground(args[3]):
		return rankDirectoryV
	case k.kind:
		return rankDirectory
	default:
		return rankObject
	}
}

func (ch *chooser) rankChange(args []template, e *bindings) int {
	k := ch.known(args[0], args[1], e)
	_, anyField := e.walk(args[2]).(variable)
	switch {
	case k.id && k.kind && k.sub && k.aux && !anyField:
		return rankRecord
	case k.id && k.kind && k.sub && k.aux:
		return rankChange
	case selective(e, args[3]) || selective(e, args[4]):
		return rankValue
	case k.id:
		return rankChangeID
	case k.kind && !anyField:
		return rankList
	case k.kind || !anyField:
		return rankLists
	default:
		return rankAll
	}
}

// selective reports whether a value is known that few records have.
func selective(e *bindings, t template) bool {
	switch t := e.walk(t).(type) {
	case register:
		return true
	case compoundTemplate:
		return e.ground(t)
	case constant:
		return !value(t).is(syntax.AtomNull) && !value(t).is(atomPresent)
	default:
		return false
	}
}

var atomPresent = engine.NewAtom("present")
