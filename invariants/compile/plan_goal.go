package compile

import "fsward/invariants/syntax"

// goalInfo is a goal that has no place in the plan yet.
type goalInfo struct {
	goal
	barrier bool // nothing changes places with it
	plain   bool
	exact   bool                   // it cannot err where it is written
	compare bool                   // it can err elsewhere
	before  map[variable]valueType // of its variables, those that have a value where it is written
	free    map[variable]bool      // those that have none and matter elsewhere
}

// analyse prepares the goals of a conjunction.
func (p *planner) analyse(goals []goal, e *bindings, needed []template) []*goalInfo {
	a := newAnalysis(p.compiler, e)
	var list []*goalInfo
	for i, g := range goals {
		x := &goalInfo{goal: g, before: map[variable]valueType{}, free: map[variable]bool{}, plain: plain(e, g.t)}
		uncertain := false
		e.free(g.t, func(v variable) {
			if t, bound := a.types[v]; bound {
				x.before[v] = t
				return
			}
			if a.maybe[v] {
				uncertain = true
			}
			if !e.single[v] {
				x.free[v] = true
			}
		})
		q, args, ok := goalOfTemplate(e.walk(g.t))
		x.exact = !a.errs(g.t)
		branches := ok && q == syntax.Pred(";", 2) && !isConditional(e, g.t) // which are analysed one by one
		if p.mode.trial && !x.plain && !branches && a.asksFor(g.t, p.unknown) {
			p.refused = true // it would mean another thing for all keys at once
		}
		x.compare = !x.plain || ok && (syntax.NumberOrders[q.Name.String()] != nil || computing[q])
		x.barrier = !x.exact || !x.plain && uncertain
		if ok {
			p.checkBound(a, g, q, args, goals[i+1:], needed)
		}
		list = append(list, x)
		a.after(g.t)
	}
	return list
}

// plain tells whether what a goal means depends on the values of its variables alone, and not on which of
// them have one when it is called.
func plain(e *bindings, t template) bool {
	p, args, ok := goalOfTemplate(e.walk(t))
	if !ok {
		return false
	}
	if _, isComparison := syntax.NumberOrders[p.Name.String()]; isComparison && p.Arity == 2 {
		return true
	}
	switch p.Name.String() {
	case ",", ";":
		return plain(e, args[0]) && plain(e, args[1])
	case "change", "query", "previous", "next", "at_or_before", "at_or_after", "crc32c", "is", "=", "between", "true", "fail", "false":
		return true
	case "range", "range_down":
		return !isKeyTemplate(e, args[2]) && !isKeyTemplate(e, args[3])
	}
	return false
}

// computing are the goals that err with what is no number, besides comparisons.
var computing = map[syntax.Indicator]bool{syntax.Pred("is", 2): true, syntax.Pred(";", 2): true, syntax.Pred("between", 3): true, syntax.Pred("range", 4): true, syntax.Pred("range_down", 4): true}

// mayCome tells whether the goals before the i-th may wait for it.
func mayCome(list []*goalInfo, i int, e *bindings) bool {
	g := list[i]
	if i == 0 {
		return true
	}
	if g.barrier {
		return false
	}
	for _, before := range list[:i] {
		if before.barrier {
			return false
		}
		if before.plain || len(before.free) == 0 {
			continue
		}
		shared := false
		e.free(g.t, func(v variable) { shared = shared || before.free[v] })
		if shared {
			return false
		}
	}
	if !g.compare {
		return true
	}
	for v := range g.before { // what has a value where the goal is written has one here, of a type that cannot err
		t := e.walk(v)
		if !e.ground(t) {
			return false
		}
		if r, ok := t.(register); ok && g.before[v].isNumber() && !r.typ.isNumber() {
			return false
		}
	}
	return true
}
