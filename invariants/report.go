package invariants

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ichiban/prolog/engine"

	"fsward/change"
)

// maxWitness bounds the change records that are shown with a violation.
const maxWitness = 16

// report collects what rules find.
type report struct {
	run        *run
	maxPerRule int
	seen       map[found]struct{}
	perRule    map[*rule]int
	found      []finding
	cannot     []string
}

// found is what makes two violations the same.
type found struct {
	rule     *rule
	tree, id string
}

type finding struct {
	change.Violation
	key    found
	object change.Object // zero if ID is no identifier of an object
	tree   uint64
}

func newReport(r *run, maxPerRule int) *report {
	return &report{run: r, maxPerRule: maxPerRule, seen: map[found]struct{}{}, perRule: map[*rule]int{}}
}

// add notes a violation; it reports false if there were enough of the rule.
func (p *report) add(rule *rule, c ruleClause, tree, id engine.Term, env *engine.Env) bool {
	names, schema := p.run.txn.Names, p.run.vocabulary.schema
	treeText, idText := termText(tree, env), termText(id, env)
	var f finding
	if n, ok := idBits(tree); ok {
		f.tree, treeText = n, change.NumText(n)
	}
	object, whole := p.object(tree, id, env)
	if whole {
		f.object = object
		idText = schema.IDText(object, names)
	}
	f.key = found{rule, treeText, idText}
	if _, again := p.seen[f.key]; again {
		return true
	}
	if p.perRule[rule] == p.maxPerRule {
		return false
	}
	p.seen[f.key] = struct{}{}
	p.perRule[rule]++
	f.Violation = change.Violation{Rule: rule.Name, Kind: change.ByRule, Tree: treeText, ID: idText, Doc: rule.Doc, Source: c.source}
	p.found = append(p.found, f)
	return true
}

// object returns the object that the arguments of a violation name; ok is false if they do not name one.
func (p *report) object(tree, id engine.Term, env *engine.Env) (o change.Object, ok bool) {
	pattern, ok := p.run.vocabulary.pattern(tree, id, p.run.txn.Names, env)
	if !ok || !pattern.id.bound {
		return o, false
	}
	if o, ok = p.run.single(&pattern); ok {
		return o, true
	}
	return o, pattern.kind != 0 && pattern.sub.bound && p.run.vocabulary.shape(pattern.kind) == change.ShapeKey
}

// mark returns what undo goes back to.
func (p *report) mark() int { return len(p.found) }

// undo forgets the violations noted since a mark.
func (p *report) undo(mark int) {
	for _, f := range p.found[mark:] {
		delete(p.seen, f.key)
		p.perRule[f.key.rule]--
	}
	p.found = p.found[:mark]
}

// undecided notes that a clause could not be judged.
func (p *report) undecided(rule *rule, c ruleClause, err error) {
	reason := err.Error()
	if e, ok := errors.AsType[engine.Exception](err); ok {
		reason = termText(e.Term(), nil)
	}
	p.cannot = append(p.cannot, fmt.Sprintf("%s at %s: %s", rule.Name, c.source, reason))
}

// verdict sorts the violations by rule, tree and object and adds the records that bear on each.
func (p *report) verdict() Verdict {
	slices.SortStableFunc(p.found, func(a, b finding) int {
		return cmp.Or(compareNumbers(a.Rule, b.Rule), cmp.Compare(a.tree, b.tree), strings.Compare(a.Tree, b.Tree),
			a.object.Compare(b.object), strings.Compare(a.ID, b.ID))
	})
	out := Verdict{Outcome: change.Holds, Undecided: p.cannot}
	witnesses := p.witnesses()
	for _, f := range p.found {
		f.Witness = witnesses.texts(f.object)
		out.Violations = append(out.Violations, f.Violation)
	}
	switch {
	case len(out.Violations) > 0:
		out.Outcome = change.Violated
	case len(out.Undecided) > 0:
		out.Outcome = change.Undecided
	}
	return out
}

// compareNumbers orders rule names by their number where they have one: btrfs/6 before btrfs/12.
func compareNumbers(a, b string) int {
	return cmp.Or(cmp.Compare(len(digits(a)), len(digits(b))), strings.Compare(a, b))
}

func digits(s string) string {
	i := len(s)
	for i > 0 && isDigit(s[i-1]) {
		i--
	}
	return s[i:]
}
