package compile

import "fsward/invariants/syntax"

// A goalInfo is a goal that is not emitted yet, and what decides when it may be.
type goalInfo struct {
	goal
	barrier bool // no goal may change places with it
	plain   bool
	exact   bool                   // it cannot err at its place in the text
	compare bool                   // it can err at other places
	before  map[variable]valueType // its variables that have a value at its place in the text
	free    map[variable]bool      // its variables that have none there and matter elsewhere
}

// analyze prepares the goals of a conjunction.
func (p *planner) analyze(goals []goal, e *bindings, needed []template) []*goalInfo {
	a := newAnalysis(p.compiler, e)
	var list []*goalInfo
	for i, g := range goals {
		x := &goalInfo{goal: g, plain: plain(e, g.t)}
		uncertain := false
		e.free(g.t, func(v variable) {
			if t, bound := a.types[v]; bound {
				if x.before == nil {
					x.before = map[variable]valueType{}
				}
				x.before[v] = t
				return
			}
			if a.maybe[v] {
				uncertain = true
			}
			if !e.info[v].single {
				if x.free == nil {
					x.free = map[variable]bool{}
				}
				x.free[v] = true
			}
		})
		q, args, ok := goalOfTemplate(e.walk(g.t))
		x.exact = !a.errs(g.t)
		// the branches are analyzed one by one
		branches := ok && q == predOr && !isConditional(e, g.t)
		if p.mode.trial && !x.plain && !branches && a.asksFor(g.t, p.unknown) {
			p.refused = true // for all keys at once, the goal would mean something else
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

// plain reports whether the meaning of a goal depends only on the values of its variables, and not
// on which of them have one when it is called.
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
	case "change", "query", "previous", "next", "at_or_before", "at_or_after", "crc32c", "is", "=",
		"between", "true", "fail", "false":
		return true
	case "range", "range_down":
		return !isKeyTemplate(e, args[2]) && !isKeyTemplate(e, args[3])
	}
	return false
}

// computing are the goals, besides comparisons, that err if something is not a number.
var computing = map[syntax.Indicator]bool{predIs: true, predOr: true,
	predBetween: true, predRange: true, predRangeDown: true}

// mayCome reports whether the i-th goal may come before the goals that precede it.
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
	// what has a value at its place in the text needs one here, of a type that cannot err
	for v := range g.before {
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
