package compile

import (
	"errors"
	"slices"
	"strings"

	"github.com/ichiban/prolog/engine"

	"fsward/change"
	"fsward/invariants/reference"
	"fsward/invariants/ruleset"
	"fsward/invariants/syntax"
	"fsward/invariants/verdict"
)

// A dataEmitter makes the ops of goals that look up changes and objects.
type dataEmitter struct {
	machine    *machine
	vocabulary *ruleset.Vocabulary
	mode       *mode // the planner's mode
	registers  *registerFile
	explain    *explainer
	starts     *starts
	patterns   *patternMaker
	arithmetic *arithmetic
	costs      *chooser

	absent op // the negation of the last emitted query for one object
}

// kinds replaces a goal for an unknown kind of object by a disjunction over all kinds.
func (p *patternMaker) kinds(g goal, t template, tree template, r *result) error {
	q, args, _ := goalOfTemplate(t)
	v := p.vocabulary
	var or template
	for k := len(v.KindTerms) - 1; k > 0; k-- {
		kind := constant(p.interner.kind(change.Kind(k)))
		b := compoundTemplate{syntax.AtomComma, []template{
			compoundTemplate{atomEquals, []template{tree, kind}},
			compoundTemplate{q.Name, append([]template{kind}, args[1:]...)}}}
		if or == nil {
			or = b
		} else {
			or = compoundTemplate{syntax.AtomOr, []template{b, or}}
		}
	}
	if or == nil {
		r.dead = true
		return nil
	}
	r.again, r.goals = true, []goal{{or, g.at}}
	return nil
}

// fieldOf returns the field that a template names; ok is false if the schema has no such field.
func (p *patternMaker) fieldOf(e *bindings, t template) (f change.Field, ok bool) {
	var b strings.Builder
	switch t := e.walk(t).(type) {
	case constant:
		if t.tag != tagAtom {
			return 0, false
		}
		b.WriteString(engine.Atom(t.n).String())
	case compoundTemplate:
		b.WriteString(t.functor.String())
		for i, a := range t.args {
			c, isConstant := e.walk(a).(constant)
			if !isConstant || c.tag != tagAtom {
				return 0, false
			}
			b.WriteByte("(,"[min(i, 1)])
			b.WriteString(engine.Atom(c.n).String())
		}
		b.WriteByte(')')
	}
	f, ok = p.vocabulary.Fields[b.String()]
	return f, ok
}

// emit makes the ops of a goal; done is false if the goal looks nothing up. last says that no goal
// follows it.
func (em *dataEmitter) emit(g goal, t template, q syntax.Indicator, args []template, e *bindings, last bool, r *result) (done bool, err error) {
	name := q.Name.String()
	switch q {
	case syntax.Pred("change", 5):
		return true, em.emitChange(g, t, args, e, r)
	case syntax.Pred("query", 2), syntax.Pred("query", 4):
		return true, em.emitQuery(g, t, args, e, last, r)
	case syntax.Pred("previous", 3), syntax.Pred("next", 3), syntax.Pred("at_or_before", 3), syntax.Pred("at_or_after", 3):
		return true, em.emitNeighbor(t, args, e, reference.Walks[name], r)
	case syntax.Pred("range", 4), syntax.Pred("range_down", 4):
		return true, em.emitRange(t, args, e, name == "range_down", r)
	}
	return false, nil
}

func (em *dataEmitter) emitChange(g goal, t template, args []template, e *bindings, r *result) error {
	rank := em.costs.rankChange(args, e)
	goal := &changeGoal{index: -1}
	object, ops, alive, err := em.patterns.object(e, args[0], args[1])
	if k, isKind := errors.AsType[errKind](err); isKind {
		return em.patterns.kinds(g, t, k.tree, r)
	}
	if err != nil || !alive {
		r.dead = !alive
		return err
	}
	goal.object = object
	mark := em.registers.count
	goal.spec = listSpec{kind: goal.object.kind, anyField: true}
	if known, err := em.emitField(goal, args[2], t, e); err != nil || !known {
		r.dead = err == nil
		return err
	}
	before := mark
	if loaded := goal.object.firstLoad(); loaded >= 0 {
		before = min(before, loaded)
	}
	if goal.old, alive = em.patterns.valuePlaces(e, args[3], before); !alive {
		r.dead = true
		return nil
	}
	if goal.new, alive = em.patterns.valuePlaces(e, args[4], before); !alive {
		r.dead = true
		return nil
	}
	access, class := em.accessOfChange(goal)
	goal.spec.old, goal.spec.new = goal.sideOf(&goal.old), goal.sideOf(&goal.new)
	switch {
	case goal.index >= 0:
		goal.list = em.machine.lists.whole.declare(goal.spec)
		goal.index = em.machine.lists.index(goal.list, goal.key)
	case em.mode.top && !em.starts.triggered && rank >= rankList:
		em.starts.triggers = append(em.starts.triggers, goal)
		goal.pass = em.mode.trial
		em.starts.begun = len(em.explain.steps) == 0 // the goals before it run for each batch
	default:
		goal.list = em.machine.lists.whole.declare(goal.spec)
	}
	em.noteStream(goal, rank)
	goal.object.settle(em.registers.spare())
	goal.loose = goal.fieldPart.mode == placeAny && goal.old.any() && goal.new.any()
	info := em.explain.step(e, t, access, class)
	em.starts.triggered = em.starts.triggered || em.mode.top
	ops = append(ops, changeOp(goal, info))
	r.ops = ops
	return nil
}

// emitField makes the place of the field of the goal t, or makes the field part of the list; known
// is false if the schema has no such field.
func (em *dataEmitter) emitField(goal *changeGoal, field, t template, e *bindings) (known bool, err error) {
	switch f := e.walk(field).(type) {
	case variable:
		if !e.single[f] {
			goal.fieldPart = place{mode: placeLoad, register: em.registers.load(e, f, typeAny)}
		}
	case register:
		goal.fieldPart = place{mode: placeBound, register: f.index}
	default:
		if !e.ground(f) {
			return false, unsupportedf("the field is only partly known in %s", em.explain.text(e, t))
		}
		named, known := em.patterns.fieldOf(e, f)
		goal.spec.field, goal.spec.anyField = named, false
		return known, nil
	}
	return true, nil
}

// sideOf returns what the list of a goal guarantees of a side, and removes it from the pattern.
func (g *changeGoal) sideOf(x *valuePattern) side {
	isObject := !g.spec.anyField && g.spec.field == change.FieldObject
	switch {
	case x.key:
		return hasValue
	case x.mode != placeConst:
		return anySide
	case x.value.is(syntax.AtomNull):
		*x = valuePattern{}
		return isNull
	case isObject && x.value.is(atomPresent):
		*x = valuePattern{}
	}
	return hasValue
}

// firstLoad returns the lowest register that a pattern loads, or −1.
func (x *objectPattern) firstLoad() int {
	least := -1
	for _, pl := range []*place{&x.tree, &x.id, &x.sub, &x.aux, &x.kindPlace} {
		if pl.mode == placeLoad && (least < 0 || pl.register < least) {
			least = pl.register
		}
	}
	return least
}

// accessOfChange chooses an index for a goal.
func (em *dataEmitter) accessOfChange(g *changeGoal) (access string, class verdict.Class) {
	telling := func(x *valuePattern) bool {
		always := x.place.mode == placeConst && (x.value.is(syntax.AtomNull) || x.value.is(atomPresent))
		return x.known() && !always
	}
	known := g.object.kind != 0 && g.object.id.known() && g.object.sub.known() && g.object.form != subAny
	pair := em.vocabulary.Shape(g.object.kind) == change.ShapePair
	switch {
	case known && (!pair || g.object.aux.known()): // before any value, because all files of a directory may have one type
		g.key = byObjectSub
		if pair {
			g.key = byPair
		}
		access = "changes of one object"
	case g.object.id.known() && telling(&g.new):
		g.key = byIDNewValue
		access = "changes of one object id to one value"
	case g.object.id.known() && telling(&g.old):
		g.key = byIDOldValue
		access = "changes of one object id from one value"
	case known:
		g.key = byObjectSub
		access = "changes of the names of an inode in one directory"
	case telling(&g.new):
		g.key = byNewValue
		access = "changes to one value"
	case telling(&g.old):
		g.key = byOldValue
		access = "changes from one value"
	case g.object.id.known():
		g.key = byObjectID
		access = "changes of one object id"
	case g.spec.kind != 0 || !g.spec.anyField:
		return "all changes of one kind or field", verdict.Tree
	default:
		return "all changes", verdict.Tree
	}
	g.index = 0
	return access + ", by a hash index", verdict.Constant
}

func (em *dataEmitter) emitQuery(g goal, t template, args []template, e *bindings, last bool, r *result) error {
	rank := em.costs.rankQuery(args, e)
	if rank == rankNever {
		return unsupportedf("%s needs the TREE and the object id", em.explain.text(e, t))
	}
	object, ops, alive, err := em.patterns.object(e, args[0], args[1])
	if k, isKind := errors.AsType[errKind](err); isKind {
		if _, free := k.tree.(variable); free {
			return unsupportedf("%s has no TREE", em.explain.text(e, t))
		}
		return em.patterns.kinds(g, t, k.tree, r)
	}
	if err != nil || !alive {
		r.dead = !alive
		return err
	}
	goal := &queryGoal{object: object}
	if !em.vocabulary.Schema.KindIsTree && !goal.object.tree.known() || !goal.object.id.known() {
		return unsupportedf("%s needs the TREE and the object id", em.explain.text(e, t))
	}
	if len(args) == 4 {
		f, known := em.patterns.fieldOf(e, args[2])
		if _, isRegister := e.walk(args[2]).(register); isRegister || !e.ground(args[2]) {
			return unsupportedf("%s needs a FIELD that is in the text", em.explain.text(e, t))
		}
		if !known {
			r.dead = true
			return nil
		}
		before := em.registers.count
		if loaded := goal.object.firstLoad(); loaded >= 0 {
			before = loaded
		}
		value, alive := em.patterns.valuePlaces(e, args[3], before)
		if !alive {
			r.dead = true
			return nil
		}
		goal.fields, goal.values = []change.Field{f}, []valuePattern{value}
		goal.reverse = value.known() && !goal.object.sub.known() && goal.object.kind != 0 && em.vocabulary.Shape(goal.object.kind) != change.ShapeNum
	}
	goal.first = em.mode.exists && last && len(args) == 2 && goal.object.firstLoad() < 0
	goal.key = newKeyMaker(em.vocabulary, &goal.object)
	goal.key.narrow(&goal.object)
	goal.object.settle(em.registers.spare())
	access, class := accessOfQuery(rank, goal)
	info := em.explain.step(e, t, access, class)
	if goal.key.exact && len(goal.fields) == 0 {
		em.absent = absentOp(goal, info)
	}
	ops = append(ops, queryOp(goal, info))
	r.ops = ops
	if len(goal.fields) > 0 && goal.fields[0] != change.FieldObject && !goal.reverse {
		r.query = goal
	}
	return nil
}

// joinQueries makes later queries for fields of the same object part of a query. It returns the
// goals that are left.
func (em *dataEmitter) joinQueries(g *queryGoal, t template, list []*goalInfo, e *bindings) []*goalInfo {
	_, args, _ := goalOfTemplate(e.walk(t))
	for i := 0; i < len(list) && len(g.fields) < maxFields; i++ {
		q, more, _ := goalOfTemplate(e.walk(list[i].t))
		if q != syntax.Pred("query", 4) || !e.same(args[0], more[0]) || !e.same(args[1], more[1]) || !e.ground(more[2]) || !mayCome(list, i, e) {
			continue
		}
		f, known := em.patterns.fieldOf(e, more[2])
		if !known || f == change.FieldObject {
			continue
		}
		info := em.explain.text(e, list[i].t)
		x, alive := em.patterns.valuePlaces(e, more[3], em.registers.count)
		if !alive {
			continue
		}
		g.join(f, x)
		em.explain.note(info, "with the look-up before it")
		list = slices.Delete(list, i, i+1)
		i--
	}
	return list
}

func accessOfQuery(rank int, g *queryGoal) (access string, class verdict.Class) {
	switch {
	case rank == rankKey:
		return "look-up by the whole key", verdict.LogN
	case rank == rankKeyGroup:
		return "the objects of one key", verdict.LogN
	case g.first:
		return "the first of a range of keys", verdict.LogN
	case rank == rankNarrow:
		return "the names of an inode in one directory", verdict.LogN
	case rank == rankDirectoryV:
		return "a directory, by an index of values that is made once", verdict.Directory
	case rank == rankDirectory:
		return "all objects of one id and kind", verdict.Directory
	default:
		return "all objects of one id", verdict.Directory
	}
}

func (em *dataEmitter) emitNeighbor(t template, args []template, e *bindings, walk reference.Walk, r *result) error {
	if r := em.costs.rankQuery(args[:2], e); r != rankKey && r != rankKeyGroup {
		return unsupportedf("%s needs the TREE and the whole identifier", em.explain.text(e, t))
	}
	object, ops, alive, err := em.patterns.object(e, args[0], args[1])
	if _, isKind := errors.AsType[errKind](err); isKind {
		return unsupportedf("%s of a kind that is not in the text", em.explain.text(e, t))
	}
	if err != nil || !alive {
		r.dead = !alive
		return err
	}
	if !em.vocabulary.Schema.KindIsTree && !object.tree.known() || !object.id.known() {
		return unsupportedf("%s needs the TREE and the object id", em.explain.text(e, t))
	}
	beside, more, alive, err := em.patterns.object(e, args[0], args[2])
	if err != nil || !alive {
		r.dead = !alive
		return err
	}
	beside.tree = place{} // the neighbor is in the same tree
	beside.settle(em.registers.spare())
	goal := &neighborGoal{object: object, beside: beside, key: newKeyMaker(em.vocabulary, &object), walk: walk}
	r.ops = append(append(ops, more...), neighborOp(goal, em.explain.step(e, t, "the neighbor of a key", verdict.LogN)))
	return nil
}

// noteStream decides how a stream answers a goal.
func (em *dataEmitter) noteStream(g *changeGoal, rank int) {
	if em.mode.top && !em.starts.triggered && (rank >= rankList || !em.mode.trial) {
		em.starts.streamTriggers = append(em.starts.streamTriggers, g)
		em.starts.streamBegun = len(em.explain.steps) == 0
		return
	}
	switch {
	case g.wantsOld():
	case g.ofObject(em.vocabulary):
		if g.new.known() {
			g.inverse = &queryGoal{object: g.object, fields: []change.Field{g.spec.field}, values: []valuePattern{g.new}, reverse: true}
		}
	default:
		em.starts.remote++
		em.machine.lists.hold(g.list)
	}
}
