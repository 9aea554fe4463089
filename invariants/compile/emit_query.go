package compile

import (
	"errors"
	"fsward/change"
	"fsward/invariants/reference"
	"fsward/invariants/verdict"
	"slices"
)

func (em *lookupEmitter) emitQuery(g goal, t template, args []template, e *bindings, last bool,
	r *result) error {
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
		goal.ask(f, value, em.kindInfo(goal.object.kind))
	}
	goal.first = em.mode.exists && last && len(args) == 2 && goal.object.firstLoad() < 0
	goal.key = newKeyMaker(em.vocabulary, &goal.object)
	goal.key.narrow(&goal.object)
	goal.object.settle(em.registers.spare())
	access, class := accessOfQuery(rank, goal)
	info := em.explain.step(e, t, access, class)
	em.noteQueryGroup(rank, goal)
	if goal.key.exact && len(goal.fields) == 0 {
		em.absent = absentOp(goal, info)
	}
	ops = append(ops, queryOp(goal, info))
	r.ops = ops
	if len(goal.fields) > 0 && goal.fields[0] != change.FieldObject && !goal.reverse &&
		!goal.named {
		r.query = goal
	}
	return nil
}

// joinQueries makes later queries for fields of the same object part of a query. It returns the
// goals that are left.
func (em *lookupEmitter) joinQueries(g *queryGoal, t template, list []*goalInfo,
	e *bindings) []*goalInfo {
	_, args, _ := goalOfTemplate(e.walk(t))
	for i := 0; i < len(list) && len(g.fields) < maxFields; i++ {
		q, more, _ := goalOfTemplate(e.walk(list[i].t))
		if q != predQuery4 || !e.same(args[0], more[0]) || !e.same(args[1], more[1]) ||
			!e.ground(more[2]) || !mayCome(list, i, e) {
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
	case g.named:
		return "the names of an inode in one directory that are equal to a name", verdict.LogN
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

func (em *lookupEmitter) emitNeighbor(t template, args []template, e *bindings, walk reference.Walk,
	r *result) error {
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
	goal := &neighborGoal{object: object, beside: beside, key: newKeyMaker(em.vocabulary, &object),
		walk: walk}
	r.ops = append(append(ops, more...), neighborOp(goal,
		em.explain.step(e, t, "the neighbor of a key", verdict.LogN)))
	return nil
}
