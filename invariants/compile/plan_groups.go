package compile

import "fsward/change"

// The functions of this file name the group of objects that a goal goes through, in the words of
// the schema; "" for at most a few objects.

// groupOfQuery returns the group of a query; once reports that the query reads it once, for the
// index of a value that few objects have.
func (em *lookupEmitter) groupOfQuery(rank int, g *queryGoal) (group string, once bool) {
	kind := em.kindInfo(g.object.kind)
	once = g.valueKnown() && g.values[0].mode != placeConst
	switch {
	case rank == rankKey || g.first || g.named:
		return "", false
	case rank == rankKeyGroup || rank == rankNarrow:
		return kind.KeyGroup, once
	case g.object.kind != 0:
		return kind.Group, once && g.reverse
	default:
		return "objects of one id", false
	}
}

// groupOfRange returns the group of a range.
func (em *lookupEmitter) groupOfRange(g *rangeGoal) string {
	if kind := em.kindInfo(g.object.kind); g.object.id.known() && kind.Group != "" {
		return kind.Group
	}
	return "objects of one range"
}

// groupOfChange returns the group of a change that starts no plan.
func (em *lookupEmitter) groupOfChange(g *changeGoal) string {
	kind := em.kindInfo(g.object.kind)
	if g.index < 0 {
		return allChanges
	}
	constant := g.new.known() && g.new.mode == placeConst || g.old.known() && g.old.mode == placeConst
	switch g.key {
	case byPair:
		return ""
	case byObjectSub:
		return kind.KeyGroup
	case byIDNewValue, byIDOldValue:
		if !constant {
			return "" // few changes of one object have one value
		}
	case byNewValue, byOldValue:
		return "changes of one value"
	}
	if g.object.kind == 0 {
		return "changes of one id"
	}
	return kind.Group
}

// noteQueryGroup notes the group of the last step, a query.
func (em *lookupEmitter) noteQueryGroup(rank int, g *queryGoal) {
	em.explain.rows(em.groupOfQuery(rank, g))
	if rank == rankDirectory || rank == rankDirectoryV {
		em.noteSame(&g.object)
	}
}

// noteStart notes the change that starts the path.
func (em *lookupEmitter) noteStart(g *changeGoal) {
	em.starts.id, em.starts.grouped = 0, false
	if id := &g.object.id; id.mode == placeLoad {
		em.starts.id = id.register + 1
		em.starts.grouped = em.kindInfo(g.object.kind).Group != "" && !g.object.sub.known()
	}
}

// noteSame notes that the group of the last step is the objects with the id of the change that
// starts the path: if all these changes have one id, the cost is their square. A search that ends
// with its first answer does not go through its group.
func (em *lookupEmitter) noteSame(x *objectPattern) {
	if em.starts.grouped && !em.mode.exists && x.id.mode == placeBound &&
		x.id.register+1 == em.starts.id {
		em.explain.same()
	}
}

// allChanges stands for all records of a kind or field.
const allChanges = "n"

// kindInfo returns the declaration of a kind.
func (em *lookupEmitter) kindInfo(k change.Kind) change.KindInfo {
	if kinds := em.vocabulary.Schema.Kinds; k != 0 && int(k) < len(kinds) {
		return kinds[k]
	}
	return change.KindInfo{}
}
