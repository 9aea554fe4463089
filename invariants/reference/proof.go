package reference

import (
	"context"
	"fmt"
	"io"

	"github.com/ichiban/prolog/engine"

	"fsward/change"
	"fsward/invariants/syntax"
)

// maxReasons bounds the goals that are shown of one proof.
const maxReasons = 64

// reasonKinds maps a primitive to the kind of evidence of its answers. Goals with "" are no
// evidence themselves, but a search may end at them.
var reasonKinds = map[syntax.Indicator]string{
	syntax.Pred("change", 5): change.ReasonRecord, syntax.Pred("query", 2): change.ReasonState,
	syntax.Pred("query", 4):    change.ReasonState,
	syntax.Pred("previous", 3): change.ReasonState, syntax.Pred("next", 3): change.ReasonState,
	syntax.Pred("at_or_before", 3): change.ReasonState,
	syntax.Pred("at_or_after", 3):  change.ReasonState,
	syntax.Pred("range", 4):        change.ReasonState,
	syntax.Pred("range_down", 4):   change.ReasonState,
	syntax.Pred(`\+`, 1):           change.ReasonAbsent, syntax.Pred("forall", 2): change.ReasonAbsent,
	syntax.Pred("crc32c", 2): change.ReasonTest, syntax.Pred("count", 2): change.ReasonTest,
	syntax.Pred("sum", 3):     change.ReasonTest,
	syntax.Pred("findall", 3): change.ReasonTest, syntax.Pred("is", 2): change.ReasonTest,
	syntax.Pred("between", 3): change.ReasonTest,
	syntax.Pred("<", 2):       change.ReasonTest, syntax.Pred("=<", 2): change.ReasonTest,
	syntax.Pred(">", 2): change.ReasonTest, syntax.Pred(">=", 2): change.ReasonTest,
	syntax.Pred("=:=", 2): change.ReasonTest, syntax.Pred(`=\=`, 2): change.ReasonTest,
	syntax.Pred(`\=`, 2): change.ReasonTest, syntax.Pred("==", 2): change.ReasonTest,
	syntax.Pred(`\==`, 2): change.ReasonTest,
	syntax.Pred("=", 2):   "",
}

// proof keeps the evidence of the current branch. The evidence is a list in the interpreter's own
// bindings, so that backtracking removes what did not lead to an answer.
type proof struct {
	head engine.Variable
	end  searchEnd
}

// searchEnd is the goal that a search reached after most evidence: a search without an answer is
// said to end there.
type searchEnd struct {
	evidence int
	goal     string
}

// A proofStep is an element of the list of evidence.
type proofStep struct {
	kind    string
	goal    engine.Term
	because string
	next    engine.Variable
}

// WriteTerm and Compare make a proofStep a term, so that a variable can be bound to it; no goal
// ever sees one.
func (l *proofStep) WriteTerm(w io.Writer, _ *engine.WriteOptions, _ *engine.Env) error {
	_, err := io.WriteString(w, "_")
	return err
}

// Compare is not called: see WriteTerm.
func (l *proofStep) Compare(engine.Term, *engine.Env) int { return 1 }

// evidence returns the steps, and the variable at the end of the list.
func (q *proof) evidence(env *engine.Env) (links []*proofStep, end engine.Variable) {
	end = q.head
	for {
		l, ok := env.Resolve(end).(*proofStep)
		if !ok {
			return links, end
		}
		links = append(links, l)
		end = l.next
	}
}

// reach records that a goal is called.
func (q *proof) reach(goal engine.Term, env *engine.Env) {
	links, _ := q.evidence(env)
	if len(links) >= q.end.evidence {
		q.end = searchEnd{len(links), goalText(goal, env)}
	}
}

// proven adds an answer to the evidence.
func (q *proof) proven(kind string, goal engine.Term, because string, env *engine.Env) *engine.Env {
	links, end := q.evidence(env)
	if kind == "" || len(links) == maxReasons {
		return env
	}
	longer, _ := env.Unify(end, &proofStep{kind, goal, because, engine.NewVariable()})
	return longer
}

type anyPredicate func(vm *engine.VM, args []engine.Term, k engine.Cont,
	env *engine.Env) *engine.Promise

// evident wraps a builtin: while there is a proof, its answers become evidence.
func (p *QuerySession) evident(b builtin) builtin {
	kind, ok := reasonKinds[b.Indicator]
	inner := variadic(b.predicate)
	if !ok || inner == nil {
		return b
	}
	call := func(vm *engine.VM, args []engine.Term, k engine.Cont, env *engine.Env) *engine.Promise {
		q := p.proof
		if q == nil {
			return inner(vm, args, k, env)
		}
		goal := b.Name.Apply(args...)
		q.reach(goal, env)
		if kind != change.ReasonAbsent {
			return inner(vm, args, func(env *engine.Env) *engine.Promise {
				return k(q.proven(kind, goal, "", env))
			}, env)
		}
		outer := q.end
		return engine.Delay(func(context.Context) *engine.Promise {
			q.end = searchEnd{}
			return inner(vm, args, func(env *engine.Env) *engine.Promise {
				because := q.end.goal
				q.end = outer
				return k(q.proven(kind, goal, because, env))
			}, env)
			// the goal has an answer, so the search ends at its negation
		}, func(context.Context) *engine.Promise {
			q.end = outer
			return engine.Bool(false)
		})
	}
	switch b.Arity {
	case 1:
		b.predicate = func(vm *engine.VM, x engine.Term, k engine.Cont, env *engine.Env) *engine.Promise {
			return call(vm, []engine.Term{x}, k, env)
		}
	case 2:
		b.predicate = func(vm *engine.VM, x, y engine.Term, k engine.Cont,
			env *engine.Env) *engine.Promise {
			return call(vm, []engine.Term{x, y}, k, env)
		}
	case 3:
		b.predicate = func(vm *engine.VM, x, y, z engine.Term, k engine.Cont,
			env *engine.Env) *engine.Promise {
			return call(vm, []engine.Term{x, y, z}, k, env)
		}
	case 4:
		b.predicate = func(vm *engine.VM, w, x, y, z engine.Term, k engine.Cont,
			env *engine.Env) *engine.Promise {
			return call(vm, []engine.Term{w, x, y, z}, k, env)
		}
	case 5:
		b.predicate = func(vm *engine.VM, v, w, x, y, z engine.Term, k engine.Cont,
			env *engine.Env) *engine.Promise {
			return call(vm, []engine.Term{v, w, x, y, z}, k, env)
		}
	}
	return b
}

// variadic gives the predicates of reasonKinds one signature; it returns nil for any other
// function.
func variadic(predicate any) anyPredicate {
	switch p := predicate.(type) {
	case func(*engine.VM, engine.Term, engine.Cont, *engine.Env) *engine.Promise:
		return func(vm *engine.VM, a []engine.Term, k engine.Cont, env *engine.Env) *engine.Promise {
			return p(vm, a[0], k, env)
		}
	case func(*engine.VM, engine.Term, engine.Term, engine.Cont, *engine.Env) *engine.Promise:
		return func(vm *engine.VM, a []engine.Term, k engine.Cont, env *engine.Env) *engine.Promise {
			return p(vm, a[0], a[1], k, env)
		}
	case engine.Predicate2:
		return variadic((func(*engine.VM, engine.Term, engine.Term, engine.Cont,
			*engine.Env) *engine.Promise)(p))
	case func(*engine.VM, engine.Term, engine.Term, engine.Term, engine.Cont,
		*engine.Env) *engine.Promise:
		return func(vm *engine.VM, a []engine.Term, k engine.Cont, env *engine.Env) *engine.Promise {
			return p(vm, a[0], a[1], a[2], k, env)
		}
	case engine.Predicate3:
		return variadic((func(*engine.VM, engine.Term, engine.Term, engine.Term, engine.Cont,
			*engine.Env) *engine.Promise)(p))
	case func(*engine.VM, engine.Term, engine.Term, engine.Term, engine.Term, engine.Cont,
		*engine.Env) *engine.Promise:
		return func(vm *engine.VM, a []engine.Term, k engine.Cont, env *engine.Env) *engine.Promise {
			return p(vm, a[0], a[1], a[2], a[3], k, env)
		}
	case func(*engine.VM, engine.Term, engine.Term, engine.Term, engine.Term, engine.Term, engine.Cont,
		*engine.Env) *engine.Promise:
		return func(vm *engine.VM, a []engine.Term, k engine.Cont, env *engine.Env) *engine.Promise {
			return p(vm, a[0], a[1], a[2], a[3], a[4], k, env)
		}
	default:
		return nil
	}
}

// Why proves a violation again and returns what made each of its goals true: change records,
// objects that were looked up, objects that were absent. The transaction must be the one in which
// the violation was found.
func (p *QuerySession) Why(ctx context.Context, t *change.Txn, v change.View,
	found change.Violation) ([]change.Reason, error) {
	clauses, err := p.ruleAt(found.Rule, found.Source)
	if err != nil {
		return nil, err
	}
	written, _, _, err := p.parseTerm(found.Tree)
	if err != nil {
		return nil, err
	}
	// A tree that comes from a record is unsigned; a tree in the head, such as -6 for the log,
	// stays as written.
	trees := []engine.Term{syntax.Unsigned(written)}
	if trees[0] != written {
		trees = append(trees, written)
	}
	id, err := p.object(found.ID)
	if err != nil {
		return nil, err
	}
	end := p.engine.Begin(ctx, t, v)
	defer end()
	p.proof = &proof{head: engine.NewVariable()}
	defer func() { p.proof = nil }()
	r := p.engine.run
	r.startRule()
	for _, c := range clauses {
		for _, tree := range trees {
			p.proof.end = searchEnd{}
			r.startGoal()
			var proven *engine.Env
			ok, err := r.solver.vm.Arrive(c.Goal, []engine.Term{tree, id},
				func(env *engine.Env) *engine.Promise {
					proven = env
					return engine.Bool(true)
				}, nil).Force(ctx)
			if err != nil {
				return nil, plainError(err)
			}
			if ok {
				return p.proof.reasons(proven), nil
			}
		}
	}
	return nil, fmt.Errorf("%s at %s %s was not found again", found.Rule, found.Tree, found.ID)
}

// object parses an argument of a violation as a report writes it.
func (p *QuerySession) object(text string) (engine.Term, error) {
	t, _, _, err := p.parseTerm(text)
	if err != nil {
		return nil, err
	}
	t = syntax.Unsigned(t)
	if syntax.IsFunctor(t, syntax.AtomA, 2) {
		c := t.(engine.Compound)
		if a, ok := c.Arg(1).(engine.Atom); ok { // the name of a file, which may have another term
			t = syntax.AtomA.Apply(c.Arg(0), p.engine.run.input.vocabulary.NameTerm(a.String()))
		}
	}
	return t, nil
}

// reasons turns the evidence of a proof into text.
func (q *proof) reasons(env *engine.Env) []change.Reason {
	links, _ := q.evidence(env)
	var out []change.Reason
	seen := map[change.Reason]bool{}
	for _, l := range links {
		reason := change.Reason{Kind: l.kind, Goal: goalText(l.goal, env), Because: l.because}
		if isNullTest(l.goal, env) || seen[reason] {
			continue
		}
		seen[reason] = true
		out = append(out, reason)
	}
	return out
}

// isNullTest reports whether a goal only asks whether a value exists: the record before it says so.
func isNullTest(goal engine.Term, env *engine.Env) bool {
	return (syntax.IsFunctor(goal, engine.NewAtom(`\==`), 2) ||
		syntax.IsFunctor(goal, engine.NewAtom("=="), 2)) &&
		env.Resolve(goal.(engine.Compound).Arg(1)) == syntax.AtomNull
}

// goalText writes a goal as its author did: a negation as not(…), verify with its property.
func goalText(goal engine.Term, env *engine.Env) string {
	if !syntax.IsFunctor(goal, syntax.AtomNot, 1) {
		return syntax.TermText(goal, env)
	}
	denied := env.Resolve(goal.(engine.Compound).Arg(0))
	if syntax.IsFunctor(denied, engine.NewAtom("$holds"), 1) {
		return "verify(" + syntax.TermText(denied.(engine.Compound).Arg(0), env) + ")"
	}
	return "not(" + syntax.TermText(denied, env) + ")"
}
