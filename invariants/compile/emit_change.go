package compile

import (
	"errors"

	"fsward/change"
	"fsward/invariants/reference"
	"fsward/invariants/ruleset"
	"fsward/invariants/syntax"
	"fsward/invariants/verdict"
)

// A lookupEmitter makes the ops of goals that look up changes and objects.
type lookupEmitter struct {
	layout     *layout
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

// emit makes the ops of a goal; done is false if the goal looks nothing up. last says that no goal
// follows it.
func (em *lookupEmitter) emit(g goal, t template, q syntax.Indicator, args []template, e *bindings,
	last bool, r *result) (done bool, err error) {
	name := q.Name.String()
	switch q {
	case predChange:
		return true, em.emitChange(g, t, args, e, r)
	case predQuery2, predQuery4:
		return true, em.emitQuery(g, t, args, e, last, r)
	case predPrevious, predNext, predAtOrBefore,
		predAtOrAfter:
		return true, em.emitNeighbor(t, args, e, reference.Walks[name], r)
	case predRange, predRangeDown:
		return true, em.emitRange(t, args, e, name == "range_down", r)
	}
	return false, nil
}

func (em *lookupEmitter) emitChange(g goal, t template, args []template, e *bindings,
	r *result) error {
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
		goal.list = em.layout.whole.declare(goal.spec)
		byValue := goal.key == byNewValue || goal.key == byOldValue
		goal.inTree = goal.object.tree.known() && !byValue
		goal.index = em.layout.index(goal.list, goal.key, goal.inTree)
	case em.mode.top && !em.starts.triggered && rank >= rankList:
		em.starts.triggers = append(em.starts.triggers, goal)
		goal.pass = em.mode.trial
		em.starts.begun = len(em.explain.steps) == 0 // the goals before it run for each batch
	default:
		goal.list = em.layout.whole.declare(goal.spec)
	}
	em.noteStream(goal, rank)
	goal.object.settle(em.registers.spare())
	goal.loose = goal.fieldPart.mode == placeAny && goal.old.any() && goal.new.any()
	begins := em.mode.top && !em.starts.triggered
	if !begins {
		class = em.classOfGroup(goal, class)
	}
	info := em.explain.step(e, t, access, class)
	em.noteGroup(goal, begins)
	em.starts.triggered = em.starts.triggered || em.mode.top
	ops = append(ops, changeOp(goal, info))
	r.ops = ops
	return nil
}

// classOfGroup returns the class of a look-up of all changes of one object id: these may be many.
func (em *lookupEmitter) classOfGroup(goal *changeGoal, class verdict.Class) verdict.Class {
	if goal.index >= 0 && goal.key == byObjectID && em.groupOfChange(goal) != "" {
		return verdict.Directory
	}
	return class
}

// noteGroup notes the group of the last step, or that the step starts the path.
func (em *lookupEmitter) noteGroup(goal *changeGoal, begins bool) {
	if begins {
		em.noteStart(goal)
		return
	}
	em.explain.rows(em.groupOfChange(goal), false)
	if goal.key == byObjectID {
		em.noteSame(&goal.object)
	}
}

// emitField makes the place of the field of the goal t, or makes the field part of the list; known
// is false if the schema has no such field.
func (em *lookupEmitter) emitField(goal *changeGoal, field, t template,
	e *bindings) (known bool, err error) {
	switch f := e.walk(field).(type) {
	case variable:
		if !e.info[f].single {
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

// sideOf returns the condition on a side that the list of a goal guarantees, and removes it from
// the pattern.
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
func (em *lookupEmitter) accessOfChange(g *changeGoal) (access string, class verdict.Class) {
	telling := func(x *valuePattern) bool {
		always := x.place.mode == placeConst && (x.value.is(syntax.AtomNull) || x.value.is(atomPresent))
		return x.known() && !always
	}
	known := g.object.kind != 0 && g.object.id.known() && g.object.sub.known() &&
		g.object.form != subAny
	pair := em.vocabulary.Shape(g.object.kind) == change.ShapePair
	switch {
	// before any value, because all files of a directory may have one type
	case known && (!pair || g.object.aux.known()):
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

// noteStream decides how a stream answers a goal.
func (em *lookupEmitter) noteStream(g *changeGoal, rank int) {
	if em.mode.top && !em.starts.triggered && (rank >= rankList || !em.mode.trial) {
		em.starts.streamTriggers = append(em.starts.streamTriggers, g)
		em.starts.streamBegun = len(em.explain.steps) == 0
		return
	}
	switch {
	case g.ofObject(em.vocabulary):
		if g.key == byIDNewValue {
			g.inverse = &queryGoal{object: g.object, fields: []change.Field{g.spec.field},
				values: []valuePattern{g.new}, reverse: true}
		}
	default:
		em.starts.remote++
		em.layout.hold(g.list)
	}
}
