package verdict

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

// A Report collects the violations that rules find. While rules run, a violation is a few numbers;
// the verdict adds its text and its witnesses. An engine has one report and reuses its memory.
type Report struct {
	vocabulary *ruleset.Vocabulary
	txn        *change.Txn // the transaction that is judged
	rules      []*ruleset.LoadedRule
	byNumber   []int32 // the rules ordered by their numbers
	maxPerRule int
	keyhash.Seeds
	textSeed maphash.Seed

	found   []Finding
	slots   []int32 // hash table of found: 1 + index
	texts   []findingText
	perRule []int
	cannot  []string
	open    bool // Verdict.Open

	// Of a stream:
	settled int // findings that no longer need the part they come from
	shown   map[findingShown][]string
	shownOf map[int32]int
}

// A Finding is a violation.
type Finding struct {
	Object       change.Object
	text         int32 // 1 + index in texts if the rule names no object
	rule, clause int32 // their Order
	Trigger      int32 // the change record that started the search, −1 if there is none
}

// A findingText identifies a finding that names no object.
type findingText struct {
	tree, id string
	number   uint64 // of the tree, 0 if the tree is not a number
}

// NewReport returns a report for rules that keeps at most maxPerRule violations of each.
func NewReport(v *ruleset.Vocabulary, rules []*ruleset.LoadedRule, maxPerRule int) *Report {
	p := &Report{vocabulary: v, rules: rules, maxPerRule: maxPerRule, Seeds: keyhash.New(),
		textSeed: maphash.MakeSeed(), perRule: make([]int, len(rules))}
	for i := range rules {
		p.byNumber = append(p.byNumber, int32(i))
	}
	slices.SortStableFunc(p.byNumber, func(a,
		b int32) int {
		return compareNumbers(rules[a].Name, rules[b].Name)
	})
	return p
}

// maxKeptFindings bounds the findings whose memory is reused for the next transaction.
const maxKeptFindings = 1 << 16

// Reset removes all findings.
func (p *Report) Reset() {
	if len(p.found) > maxKeptFindings {
		p.found, p.slots = nil, nil
	}
	p.found, p.texts, p.cannot = p.found[:0], nil, nil
	p.open = false
	p.settled, p.shown, p.shownOf = 0, nil, nil
	clear(p.slots)
	clear(p.perRule)
}

// Open sets the transaction that is judged.
func (p *Report) Open(t *change.Txn) { p.txn = t }

// Close releases the transaction.
func (p *Report) Close() { p.txn = nil }

// Add adds a violation whose arguments are terms; it reports false if the rule has MaxViolations of
// them already.
func (p *Report) Add(rule *ruleset.LoadedRule, c ruleset.RuleClause, tree, id engine.Term,
	env *engine.Env) bool {
	if object, ok := p.object(tree, id, env); ok {
		return p.Note(rule, c, Finding{Object: object, Trigger: -1})
	}
	text := findingText{tree: syntax.TermText(tree, env), id: syntax.TermText(id, env)}
	if n, ok := syntax.IDBits(tree); ok {
		text.number, text.tree = n, change.NumText(n)
	}
	p.texts = append(p.texts, text)
	return p.Note(rule, c, Finding{text: int32(len(p.texts)), Trigger: -1})
}

// object returns the object that the arguments of a violation name; ok is false if they do not name
// one.
func (p *Report) object(tree, id engine.Term, env *engine.Env) (o change.Object, ok bool) {
	pattern, ok := p.vocabulary.Pattern(tree, id, p.txn.Names, env)
	if !ok || !pattern.ID.Bound || syntax.IsVariable(pattern.TreeTerm) {
		return o, false
	}
	if o, ok = p.vocabulary.Single(&pattern); ok {
		return o, true
	}
	return o, pattern.Kind != 0 && pattern.Sub.Bound &&
		p.vocabulary.Shape(pattern.Kind) == change.ShapeKey
}

// Note adds a violation; it reports false if the rule has MaxViolations of them already. If several
// clauses find the same violation, the report names the first one in the text.
func (p *Report) Note(rule *ruleset.LoadedRule, c ruleset.RuleClause, f Finding) bool {
	f.rule, f.clause = rule.Order, c.Order
	if 2*(len(p.found)+1) > len(p.slots) {
		p.rebuild(max(64, 2*len(p.slots)))
	}
	slot := p.slot(&f)
	if at := p.slots[slot]; at != 0 {
		if have := &p.found[at-1]; f.clause < have.clause {
			have.clause, have.Trigger = f.clause, f.Trigger
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
func (p *Report) slot(f *Finding) int {
	o := &f.Object
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
		if have.rule == f.rule && have.Object == *o && (have.text == 0) == (f.text == 0) &&
			(f.text == 0 || p.texts[have.text-1] == p.texts[f.text-1]) {
			return i
		}
	}
}

// rebuild rebuilds the hash table with a new size.
func (p *Report) rebuild(size int) {
	p.slots = make([]int32, size)
	for i := range p.found {
		p.slots[p.slot(&p.found[i])] = int32(i) + 1
	}
}

// Take adds the violations of another report. The two reports must not have violations of the same
// rule.
func (p *Report) Take(o *Report) {
	if o.shown != nil {
		p.shown = o.shown
	}
	if len(o.found) == 0 {
		return
	}
	names, of := p.txn.Names, o.txn.Names
	for _, f := range o.found {
		if f.text != 0 {
			p.texts = append(p.texts, o.texts[f.text-1])
			f.text = int32(len(p.texts))
		} else if names != of && p.vocabulary.Shape(f.Object.Kind) == change.ShapeNamed {
			// a fork may have its own table of names
			f.Object.Sub = names.Handle([]byte(of.At(f.Object.Sub)))
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

// Forget removes the violations of a rule.
func (p *Report) Forget(rule *ruleset.LoadedRule) {
	p.found = slices.DeleteFunc(p.found, func(f Finding) bool { return f.rule == rule.Order })
	p.perRule[rule.Order] = 0
	p.rebuild(max(64, len(p.slots)))
}

// Stop records an error that ended the search for all rules.
func (p *Report) Stop(err error) {
	p.cannot, p.open = append(p.cannot, err.Error()), true
}

// Undecided records that a clause could not be judged.
func (p *Report) Undecided(rule *ruleset.LoadedRule, c ruleset.RuleClause, err error) {
	reason := err.Error()
	if e, ok := errors.AsType[engine.Exception](err); ok {
		reason = syntax.TermText(e.Term(), nil)
	}
	p.open = p.open || rule.Severity != syntax.SeverityLog
	p.cannot = append(p.cannot, fmt.Sprintf("%s at %s: %s", rule.Name, c.Source, reason))
}

// Verdict returns the verdict, with violations sorted by rule, tree and object.
func (p *Report) Verdict() Verdict {
	out := Verdict{Undecided: p.cannot, Open: p.open}
	if len(p.found) > 0 {
		out.report, out.order = p, p.sorted()
		out.Violations = p.written(out.order)
	}
	out.Conclude()
	return out
}

// written makes the violations of findings. All identifiers share one string.
func (p *Report) written(order []int32) []change.Violation {
	schema, names := p.vocabulary.Schema, p.txn.Names
	ids := make([]byte, 0, 40*len(order))
	ends := make([]int32, len(order))
	for i, at := range order {
		if f := &p.found[at]; f.text == 0 {
			ids = schema.AppendID(ids, f.Object, names)
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
		v.Rule, v.Kind, v.Doc, v.Source = rule.Name, change.ByRule, rule.Doc,
			rule.Clauses[f.clause].Source
		if rule.Severity != syntax.SeverityRefuse {
			v.Severity = rule.Severity
		}
		if f.text != 0 {
			v.Tree, v.ID = p.texts[f.text-1].tree, p.texts[f.text-1].id
			continue
		}
		if o := f.Object; tree == "" || o.Tree != of.Tree || o.Kind != of.Kind {
			tree, of = schema.TreeText(o), o
		}
		v.Tree, v.ID = tree, all[from:ends[i]]
		from = ends[i]
	}
	return out
}

// sorted returns the indexes of the findings by rule, tree and object.
func (p *Report) sorted() []int32 {
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

// compare orders the findings of one rule: by tree, then findings without an object, then by
// object.
func (p *Report) compare(f, g *Finding) int {
	if f.text == 0 && g.text == 0 && !p.vocabulary.Schema.KindIsTree {
		return f.Object.Compare(g.Object)
	}
	x, y := p.textOf(f), p.textOf(g)
	return cmp.Or(cmp.Compare(x.number, y.number), strings.Compare(x.tree, y.tree),
		f.Object.Compare(g.Object),
		strings.Compare(x.id, y.id))
}

// textOf returns the text of a finding's tree and, if it names no object, of its identifier.
func (p *Report) textOf(f *Finding) findingText {
	if f.text != 0 {
		return p.texts[f.text-1]
	}
	return findingText{tree: p.vocabulary.Schema.TreeText(f.Object), number: f.Object.Tree}
}

// compareNumbers orders rule names by their number, if they have one: btrfs/6 before btrfs/12.
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

// ErrStop ends a clause whose rule has MaxViolations violations.
var ErrStop = errors.New("no more violations of this rule are looked for")

// Stopped turns ErrStop into an error for the user, and returns any other error unchanged.
func (p *Report) Stopped(err error) error {
	if errors.Is(err, ErrStop) {
		return fmt.Errorf("stopped after %d violations", p.maxPerRule)
	}
	return err
}
