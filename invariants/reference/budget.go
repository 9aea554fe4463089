package reference

import (
	"cmp"
	"context"
	"fmt"

	"fsward/change"
	"fsward/invariants/syntax"

	"github.com/ichiban/prolog/engine"
)

// budget counts the steps of the rule that runs.
type budget struct {
	ctx             context.Context
	records         int // of the transaction
	steps, maxSteps int64
	work            *change.Work // of the judgment; may be nil
	last            lookup       // named if the rule needs too many steps
}

// A lookup is a goal that asked for records or objects. The error of a rule that needs too many
// steps names the last one.
type lookup struct {
	predicate string // NAME/ARITY; "" if there is none
	tree, id  engine.Term
	env       *engine.Env
}

func (l lookup) text() string {
	if l.predicate == "" {
		return ""
	}
	return fmt.Sprintf(", at %s of %s, %s", l.predicate, syntax.TermText(l.tree, l.env),
		syntax.TermText(l.id, l.env))
}

// spend counts steps: one for each clause entered, each primitive called, each record or object
// looked at. The count depends only on the rule and the transaction, so a rule exceeds its budget
// on every machine or on none. spend also checks the context, because the library does so only
// between its own steps.
func (b *budget) spend(n int) error {
	before := b.steps
	b.steps += int64(n)
	if b.steps > b.maxSteps {
		return syntax.RuleErrorf("more than the %d steps that a transaction of %d records allows%s",
			b.maxSteps, b.records, b.last.text())
	}
	if before>>10 != b.steps>>10 {
		return cmp.Or(b.ctx.Err(), b.work.Spend(1<<10))
	}
	return nil
}
