package invariants

import (
	"cmp"
	"errors"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"

	"github.com/ichiban/prolog/engine"

	"fsward/change"
	"fsward/invariants/keyhash"
	"fsward/invariants/ruleset"
	"fsward/invariants/syntax"
)

// report collects what rules find. While rules run, a violation is a few numbers; its text and the records that
// bear on it are made once, for the verdict. An engine has one report, whose memory is used again.
type report struct {
	vocabulary *ruleset.Vocabulary
	txn        *change.Txn // that is judged
	rules      []*ruleset.LoadedRule
	byNumber   []int32 // the rules in the order of their numbers
	maxPerRule int
	keyhash.Seeds
	textSeed maphash.Seed

	found   []finding
	slots   []int32 // a hash table of found: 1 + place
	texts   []findingText
	perRule []int
	cannot  []string

	// Of a stream:
	settled int // findings that no longer need the part they come from
	shown   map[findingShown][]string
	shownOf map[int32]int
}

// A finding is a violation.
type finding struct {
	object       change.Object
	text         int32 // 1 + place in texts where the rule names no object
	rule, clause int32 // by their order
	trigger      int32 // the change record that started the search, −1 where there is none
}

// findingText is what a rule gives that names no object.
type findingText struct {
	tree, id string
	number   uint64 // of the tree, 0 if it is none
}

func newReport(v *ruleset.Vocabulary, rules []*ruleset.LoadedRule, maxPerRule int) *report {
	p := &report{vocabulary: v, rules: rules, maxPerRule: maxPerRule, Seeds: keyhash.New(),
		textSeed: maphash.MakeSeed(), perRule: make([]int, len(rules))}
	for i := range rules {
		p.byNumber = append(p.byNumber, int32(i))
	}
	slices.SortStableFunc(p.byNumber, func(a, b int32) int { return compareNumbers(rules[a].Name, rules[b].Name) })
	return p
}

// maxKeptFindings bounds the findings whose memory is kept for the next transaction.
const maxKeptFindings = 1 << 16

func (p *report) reset() {
	if len(p.found) > maxKeptFindings {
		p.found, p.slots = nil, nil
	}
	p.found, p.texts, p.cannot = p.found[:0], nil, nil
	p.settled, p.shown, p.shownOf = 0, nil, nil
	clear(p.slots)
	clear(p.perRule)
}

// open takes the transaction that is judged.
func (p *report) open(t *change.Txn) { p.txn = t }

// close lets go of the transaction.
func (p *report) close() { p.txn = nil }

// add notes a violation that a rule gives as terms; it reports false if there were enough of the rule.
func (p *report) add(rule *ruleset.LoadedRule, c ruleset.RuleClause, tree, id engine.Term, env *engine.Env) bool {
	if object, ok := p.object(tree, id, env); ok {
		return p.note(rule, c, finding{object: object, trigger: -1})
	}
	text := findingText{tree: syntax.TermText(tree, env), id: syntax.TermText(id, env)}
	if n, ok := syntax.IDBits(tree); ok {
		text.number, text.tree = n, change.NumText(n)
	}
	p.texts = append(p.texts, text)
	return p.note(rule, c, finding{text: int32(len(p.texts)), trigger: -1})
}

// object returns the object that the arguments of a violation name; ok is false if they do not name one.
func (p *report) object(tree, id engine.Term, env *engine.Env) (o change.Object, ok bool) {
	pattern, ok := p.vocabulary.Pattern(tree, id, p.txn.Names, env)
	if !ok || !pattern.Id.Bound || syntax.IsVariable(pattern.TreeTerm) {
		return o, false
	}
	if o, ok = p.vocabulary.Single(&pattern); ok {
		return o, true
	}
	return o, pattern.Kind != 0 && pattern.Sub.Bound && p.vocabulary.Shape(pattern.Kind) == change.ShapeKey
}

// note notes a violation; it reports false if there were enough of the rule. Of several clauses that find it,
// the first one in the text is named.
func (p *report) note(rule *ruleset.LoadedRule, c ruleset.RuleClause, f finding) bool {
	f.rule, f.clause = rule.Order, c.Order
	if 2*(len(p.found)+1) > len(p.slots) {
		p.rebuild(max(64, 2*len(p.slots)))
	}
	slot := p.slot(&f)
	if at := p.slots[slot]; at != 0 {
		if have := &p.found[at-1]; f.clause < have.clause {
			have.clause, have.trigger = f.clause, f.trigger
		}
		return true
	}
	if p.perRule[f.rule] == p.maxPerRule {
		return false
	}
	p.perRule[f.rule]++
	p.found = append(p.found, f)
	p.slots[slot] = int32(len(p.found))
	return true
}

// slot returns the slot of a finding, or the empty one where it belongs.
func (p *report) slot(f *finding) int {
	o := &f.object
	h := p.Mix(p.Mix(o.Tree, o.ID), p.Mix(o.Sub^uint64(f.rule)<<32, o.Aux^uint64(o.Kind)))
	if f.text != 0 {
		text := &p.texts[f.text-1]
		h ^= maphash.String(p.textSeed, text.tree) + 3*maphash.String(p.textSeed, text.id)
	}
	mask := len(p.slots) - 1
	for i := int(h) & mask; ; i = (i + 1) & mask {
		at := p.slots[i]
		if at == 0 {
			return i
		}
		have := &p.found[at-1]
		if have.rule == f.rule && have.object == *o && (have.text == 0) == (f.text == 0) &&
			(f.text == 0 || p.texts[have.text-1] == p.texts[f.text-1]) {
			return i
		}
	}
}

// rebuild makes the hash table anew.
func (p *report) rebuild(size int) {
	p.slots = make([]int32, size)
	for i := range p.found {
		p.slots[p.slot(&p.found[i])] = int32(i) + 1
	}
}

// take takes over the violations that another report has of rules of which this one has none.
func (p *report) take(o *report) {
	if len(o.found) == 0 {
		return
	}
	names, of := p.txn.Names, o.txn.Names
	for _, f := range o.found {
		if f.text != 0 {
			p.texts = append(p.texts, o.texts[f.text-1])
			f.text = int32(len(p.texts))
		} else if names != of && p.vocabulary.Shape(f.object.Kind) == change.ShapeNamed {
			f.object.Sub = names.Handle([]byte(of.At(f.object.Sub))) // a fork may have names of its own
		}
		p.found = append(p.found, f)
		p.perRule[f.rule]++
	}
	size := max(64, len(p.slots))
	for 2*len(p.found) > size {
		size *= 2
	}
	p.rebuild(size)
}

// forget takes back the violations of a rule.
func (p *report) forget(rule *ruleset.LoadedRule) {
	p.found = slices.DeleteFunc(p.found, func(f finding) bool { return f.rule == rule.Order })
	p.perRule[rule.Order] = 0
	p.rebuild(max(64, len(p.slots)))
}

// undecided notes that a clause could not be judged.
func (p *report) undecided(rule *ruleset.LoadedRule, c ruleset.RuleClause, err error) {
	reason := err.Error()
	if e, ok := errors.AsType[engine.Exception](err); ok {
		reason = syntax.TermText(e.Term(), nil)
	}
	p.cannot = append(p.cannot, fmt.Sprintf("%s at %s: %s", rule.Name, c.Source, reason))
}

// verdict writes the violations, sorted by rule, tree and object.
func (p *report) verdict() Verdict {
	out := Verdict{Outcome: change.Holds, Undecided: p.cannot}
	switch {
	case len(p.found) > 0:
		out.Outcome = change.Violated
		out.report, out.order = p, p.sorted()
		out.Violations = p.written(out.order)
	case len(out.Undecided) > 0:
		out.Outcome = change.Undecided
	}
	return out
}

// written makes the violations of findings. All identifiers are parts of one string.
func (p *report) written(order []int32) []change.Violation {
	schema, names := p.vocabulary.Schema, p.txn.Names
	ids := make([]byte, 0, 40*len(order))
	ends := make([]int32, len(order))
	for i, at := range order {
		if f := &p.found[at]; f.text == 0 {
			ids = schema.AppendID(ids, f.object, names)
		}
		ends[i] = int32(len(ids))
	}
	all, from := string(ids), int32(0)
	out := make([]change.Violation, len(order))
	tree, of := "", change.Object{}
	for i, at := range order {
		f := &p.found[at]
		rule := p.rules[f.rule]
		v := &out[i]
		v.Rule, v.Kind, v.Doc, v.Source = rule.Name, change.ByRule, rule.Doc, rule.Clauses[f.clause].Source
		if f.text != 0 {
			v.Tree, v.ID = p.texts[f.text-1].tree, p.texts[f.text-1].id
			continue
		}
		if o := f.object; tree == "" || o.Tree != of.Tree || o.Kind != of.Kind {
			tree, of = schema.TreeText(o), o
		}
		v.Tree, v.ID = tree, all[from:ends[i]]
		from = ends[i]
	}
	return out
}

// sorted returns the places of the findings by rule, tree and object.
func (p *report) sorted() []int32 {
	ends := make([]int32, len(p.rules))
	end := int32(0)
	for _, rule := range p.byNumber {
		ends[rule] = end
		end += int32(p.perRule[rule])
	}
	order := make([]int32, len(p.found))
	for i := range p.found {
		rule := p.found[i].rule
		order[ends[rule]] = int32(i)
		ends[rule]++
	}
	compare := func(a, b int32) int { return p.compare(&p.found[a], &p.found[b]) }
	for rule, end := range ends {
		of := order[end-int32(p.perRule[rule]) : end]
		if !slices.IsSortedFunc(of, compare) {
			slices.SortFunc(of, compare)
		}
	}
	return order
}

// compare orders the findings of one rule: by tree, then those that name no object, then by object.
func (p *report) compare(f, g *finding) int {
	if f.text == 0 && g.text == 0 && !p.vocabulary.Schema.KindIsTree {
		return f.object.Compare(g.object)
	}
	x, y := p.textOf(f), p.textOf(g)
	return cmp.Or(cmp.Compare(x.number, y.number), strings.Compare(x.tree, y.tree), f.object.Compare(g.object),
		strings.Compare(x.id, y.id))
}

// textOf returns what stands for the tree of a finding, and for its identifier where it names no object.
func (p *report) textOf(f *finding) findingText {
	if f.text != 0 {
		return p.texts[f.text-1]
	}
	return findingText{tree: p.vocabulary.Schema.TreeText(f.object), number: f.object.Tree}
}

// compareNumbers orders rule names by their number where they have one: btrfs/6 before btrfs/12.
func compareNumbers(a, b string) int {
	return cmp.Or(cmp.Compare(len(digits(a)), len(digits(b))), strings.Compare(a, b))
}

func digits(s string) string {
	i := len(s)
	for i > 0 && syntax.IsDigit(s[i-1]) {
		i--
	}
	return s[i:]
}

// errStop ends a clause whose rule has as many violations as are reported.
var errStop = errors.New("no more violations of this rule are looked for")

// stopped says why a rule was not judged to its end, if it was errStop.
func (p *report) stopped(err error) error {
	if errors.Is(err, errStop) {
		return fmt.Errorf("stopped after %d violations", p.maxPerRule)
	}
	return err
}
