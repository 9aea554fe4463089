package compile

import (
	"errors"
	"slices"
	"strings"

	"github.com/ichiban/prolog/engine"

	"fsward/change"
	"fsward/invariants/reference"
	"fsward/invariants/syntax"
	"fsward/invariants/verdict"
)

// kinds replaces a goal of which the kind of object is not known by a disjunction over all kinds.
func (p *planner) kinds(g goal, t template, tree template, r *result) error {
	q, args, _ := goalOfTemplate(t)
	v := p.machine.vocabulary
	var or template
	for k := len(v.KindTerms) - 1; k > 0; k-- {
		kind := constant(p.machine.interner.kind(change.Kind(k)))
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

// fieldOf returns the field that a template names; ok is false if the schema has none such.
func (p *planner) fieldOf(e *bindings, t template) (f change.Field, ok bool) {
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
	f, ok = p.machine.vocabulary.Fields[b.String()]
	return f, ok
}

func (p *planner) emitChange(g goal, t template, args []template, e *bindings, r *result) error {
	rank := p.rankChange(args, e)
	goal := &changeGoal{index: -1}
	object, ops, alive, err := p.object(e, args[0], args[1])
	if k, isKind := errors.AsType[errKind](err); isKind {
		return p.kinds(g, t, k.tree, r)
	}
	if err != nil || !alive {
		r.dead = !alive
		return err
	}
	goal.object = object
	mark := p.registers
	goal.spec = listSpec{kind: goal.object.kind, anyField: true}
	switch f := e.walk(args[2]).(type) {
	case variable:
		if !e.single[f] {
			goal.fieldPart = place{mode: placeLoad, register: p.load(e, f, typeAny)}
		}
	case register:
		goal.fieldPart = place{mode: placeBound, register: f.index}
	default:
		if !e.ground(f) {
			return unsupportedf("a field that is known in part in %s", p.text(e, t))
		}
		field, known := p.fieldOf(e, f)
		if !known {
			r.dead = true
			return nil
		}
		goal.spec.field, goal.spec.anyField = field, false
	}
	before := mark
	if loaded := p.firstLoad(&goal.object); loaded >= 0 {
		before = min(before, loaded)
	}
	if goal.old, alive = p.valuePlaces(e, args[3], before); !alive {
		r.dead = true
		return nil
	}
	if goal.new, alive = p.valuePlaces(e, args[4], before); !alive {
		r.dead = true
		return nil
	}
	access, class := p.accessOfChange(goal)
	goal.spec.old, goal.spec.new = goal.sideOf(&goal.old), goal.sideOf(&goal.new)
	switch {
	case goal.index >= 0:
		goal.list = p.machine.lists.whole.declare(goal.spec)
		goal.index = p.machine.lists.index(goal.list, goal.key)
	case p.top && !p.triggered && rank >= rankList:
		p.triggers = append(p.triggers, goal)
		goal.pass = p.trial
		p.onTurn = len(p.steps) == 0 // what comes before it is run for each part
	default:
		goal.list = p.machine.lists.whole.declare(goal.spec)
	}
	p.noteStream(goal, rank)
	goal.object.settle(p.spare())
	goal.loose = goal.fieldPart.mode == placeAny && goal.old.any() && goal.new.any()
	info := p.step(e, t, access, class)
	p.triggered = p.triggered || p.top
	ops = append(ops, changeOp(goal, info))
	r.ops = ops
	return nil
}

// sideOf returns what the list of a goal has of a side, and leaves out of the pattern what the list says.
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

// firstLoad returns the least register that a pattern loads, or −1.
func (p *planner) firstLoad(x *objectPattern) int {
	least := -1
	for _, pl := range []*place{&x.tree, &x.id, &x.sub, &x.aux, &x.kindPlace} {
		if pl.mode == placeLoad && (least < 0 || pl.register < least) {
			least = pl.register
		}
	}
	return least
}

// accessOfChange picks an index for a goal.
func (p *planner) accessOfChange(g *changeGoal) (access string, class verdict.Class) {
	telling := func(x *valuePattern) bool {
		always := x.place.mode == placeConst && (x.value.is(syntax.AtomNull) || x.value.is(atomPresent))
		return x.known() && !always
	}
	known := g.object.kind != 0 && g.object.id.known() && g.object.sub.known() && g.object.form != subAny
	pair := p.machine.vocabulary.Shape(g.object.kind) == change.ShapePair
	switch {
	case known && (!pair || g.object.aux.known()): // before any value: all files of a directory can be of one type
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

func (p *planner) emitQuery(g goal, t template, args []template, e *bindings, last bool, r *result) error {
	rank := p.rankQuery(args, e)
	if rank == rankNever {
		return unsupportedf("%s needs the TREE and the object id", p.text(e, t))
	}
	object, ops, alive, err := p.object(e, args[0], args[1])
	if k, isKind := errors.AsType[errKind](err); isKind {
		if _, free := k.tree.(variable); free {
			return unsupportedf("%s has no TREE", p.text(e, t))
		}
		return p.kinds(g, t, k.tree, r)
	}
	if err != nil || !alive {
		r.dead = !alive
		return err
	}
	goal := &queryGoal{object: object}
	if !p.machine.vocabulary.Schema.KindIsTree && !goal.object.tree.known() || !goal.object.id.known() {
		return unsupportedf("%s needs the TREE and the object id", p.text(e, t))
	}
	if len(args) == 4 {
		f, known := p.fieldOf(e, args[2])
		if _, isRegister := e.walk(args[2]).(register); isRegister || !e.ground(args[2]) {
			return unsupportedf("%s needs a FIELD that is in the text", p.text(e, t))
		}
		if !known {
			r.dead = true
			return nil
		}
		before := p.registers
		if loaded := p.firstLoad(&goal.object); loaded >= 0 {
			before = loaded
		}
		value, alive := p.valuePlaces(e, args[3], before)
		if !alive {
			r.dead = true
			return nil
		}
		goal.fields, goal.values = []change.Field{f}, []valuePattern{value}
		goal.reverse = value.known() && !goal.object.sub.known() && goal.object.kind != 0 && p.machine.vocabulary.Shape(goal.object.kind) != change.ShapeNum
	}
	goal.first = p.exists && last && len(args) == 2 && p.firstLoad(&goal.object) < 0
	goal.key = newKeyMaker(p.machine.vocabulary, &goal.object)
	goal.key.narrow(&goal.object)
	goal.object.settle(p.spare())
	access, class := accessOfQuery(rank, goal)
	info := p.step(e, t, access, class)
	if goal.key.exact && len(goal.fields) == 0 {
		p.absent = absentOp(goal, info)
	}
	ops = append(ops, queryOp(goal, info))
	r.ops = ops
	if len(goal.fields) > 0 && goal.fields[0] != change.FieldObject && !goal.reverse {
		r.query = goal
	}
	return nil
}

// joinQueries makes goals for further fields of the object that a query has found parts of that query. It returns
// the goals that are left.
func (p *planner) joinQueries(g *queryGoal, t template, list []*goalInfo, e *bindings) []*goalInfo {
	_, args, _ := goalOfTemplate(e.walk(t))
	for i := 0; i < len(list) && len(g.fields) < maxFields; i++ {
		q, more, _ := goalOfTemplate(e.walk(list[i].t))
		if q != syntax.Pred("query", 4) || !e.same(args[0], more[0]) || !e.same(args[1], more[1]) || !e.ground(more[2]) || !p.mayCome(list, i, e) {
			continue
		}
		f, known := p.fieldOf(e, more[2])
		if !known || f == change.FieldObject {
			continue
		}
		info := p.text(e, list[i].t)
		x, alive := p.valuePlaces(e, more[3], p.registers)
		if !alive {
			continue
		}
		g.join(f, x)
		p.steps = append(p.steps, verdict.Step{Goal: info, Access: "with the look-up before it", Class: verdict.Constant, Depth: p.depth})
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

func (p *planner) emitNeighbor(t template, args []template, e *bindings, walk reference.Walk, r *result) error {
	if r := p.rankQuery(args[:2], e); r != rankKey && r != rankKeyGroup {
		return unsupportedf("%s needs the TREE and the whole identifier", p.text(e, t))
	}
	object, ops, alive, err := p.object(e, args[0], args[1])
	if _, isKind := errors.AsType[errKind](err); isKind {
		return unsupportedf("%s of a kind that is not in the text", p.text(e, t))
	}
	if err != nil || !alive {
		r.dead = !alive
		return err
	}
	if !p.machine.vocabulary.Schema.KindIsTree && !object.tree.known() || !object.id.known() {
		return unsupportedf("%s needs the TREE and the object id", p.text(e, t))
	}
	beside, more, alive, err := p.object(e, args[0], args[2])
	if err != nil || !alive {
		r.dead = !alive
		return err
	}
	beside.tree = place{} // the neighbour is in the same one
	beside.settle(p.spare())
	goal := &neighborGoal{object: object, beside: beside, key: newKeyMaker(p.machine.vocabulary, &object), walk: walk}
	r.ops = append(append(ops, more...), neighborOp(goal, p.step(e, t, "the neighbour of a key", verdict.LogN)))
	return nil
}
