package compile

import (
	"fmt"
	"fsward/invariants/syntax"
	"fsward/invariants/verdict"
	"strings"
)

// An explainer writes goals for a person and keeps the steps of the plan that Explain returns.
type explainer struct {
	interner  *interner
	registers *registerFile
	starts    *starts

	steps []verdict.Step
	depth int    // nesting of the conjunction in negations, aggregates and alternatives
	dead  string // the first goal that can never be true; "" if there is none
}

// text writes a goal for a person.
func (x *explainer) text(e *bindings, t template) string {
	var b strings.Builder
	x.write(&b, e, t, syntax.MaxPriority, syntax.MaxTextDepth)
	return b.String()
}

// infixOf are the operators that write puts between their operands.
var infixOf = syntax.StandardOperators().Infix

// write puts brackets around operators with a priority above most.
func (x *explainer) write(b *strings.Builder, e *bindings, t template, most, depth int) {
	if depth == 0 || b.Len() > syntax.MaxTextLen {
		b.WriteString("...")
		return
	}
	switch t := e.walk(t).(type) {
	case constant:
		b.WriteString(syntax.TermText(x.interner.term(value(t)), nil))
	case variable:
		b.WriteString(e.name(t))
	case register:
		if n := x.registers.names[t.index]; n != "" {
			b.WriteString(n)
		} else {
			b.WriteByte('_')
		}
	case compoundTemplate:
		f := t.functor.String()
		if op, infix := infixOf[f]; infix && len(t.args) == 2 {
			if op.Priority > most {
				b.WriteByte('(')
				defer b.WriteByte(')')
			}
			x.write(b, e, t.args[0], op.Left, depth-1)
			if f == "," {
				b.WriteString(", ")
			} else {
				b.WriteString(" " + f + " ")
			}
			x.write(b, e, t.args[1], op.Right, depth-1)
			return
		}
		b.WriteString(syntax.AtomText(f))
		for i, a := range t.args {
			b.WriteByte("(,"[min(i, 1)])
			x.write(b, e, a, syntax.ArgumentPriority, depth-1)
		}
		b.WriteByte(')')
	}
}

// step adds a step to the plan.
func (x *explainer) step(e *bindings, t template, access string, class verdict.Class) *stepInfo {
	s := verdict.Step{Goal: x.text(e, t), Access: access, Class: class, Depth: x.depth}
	if x.starts.triggered && (class == verdict.Tree || class == verdict.Directory) {
		s.Warning = fmt.Sprintf(
			"for each row of the steps before it, this goes through %s; use a known key", access)
	}
	x.steps = append(x.steps, s)
	return &stepInfo{s.Goal}
}

// rows notes the group that the last step goes through for each row before it or, if once is true,
// the group that it reads once for all rows.
func (x *explainer) rows(what string, once bool) {
	s := &x.steps[len(x.steps)-1]
	if s.Rows, s.Once = what, ""; once {
		s.Rows, s.Once = "", what
	}
}

// same marks the last step as one that goes through a group to which all records that start the
// plan may belong.
func (x *explainer) same() {
	s := &x.steps[len(x.steps)-1]
	s.Same = s.Rows != ""
}

// scope marks a step as one that contains steps.
func (x *explainer) scope(at int) { x.steps[at].Scope = true }

// filters marks the steps of a condition, of which the first answer is taken.
func (x *explainer) filters(from int) {
	for i := from; i < len(x.steps); i++ {
		x.steps[i].Filter = true
	}
}

// note adds a step that costs nothing for each row and needs no name at run time.
func (x *explainer) note(goal, access string) {
	x.steps = append(x.steps, verdict.Step{Goal: goal, Access: access, Class: verdict.Constant,
		Depth: x.depth})
}

// kill records a goal that can never be true, and returns the op that fails.
func (x *explainer) kill(e *bindings, t template) []op {
	if x.dead == "" {
		x.dead = x.text(e, t)
	}
	return []op{failOp}
}

// worst gives a step the worst class of the steps inside it.
func (x *explainer) worst(at int) {
	for _, s := range x.steps[at+1:] {
		if classRank[s.Class] > classRank[x.steps[at].Class] {
			x.steps[at].Class = s.Class
		}
	}
}

// beside marks the step at as the beginning of branch i, if the branch is an alternative within one
// plan.
func (x *explainer) beside(i, at int) {
	if i > 0 && x.depth > 0 && at < len(x.steps) {
		x.steps[at].Or = true
	}
}

var classRank = map[verdict.Class]int{verdict.Constant: 0, verdict.LogN: 1, verdict.Directory: 2,
	verdict.Tree: 3}
