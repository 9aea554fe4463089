package compile

import (
	"slices"
	"sync"

	"fsward/invariants/ruleset"
	"fsward/invariants/verdict"
)

// programs are a set of rules and the programs of its clauses. Once they are compiled, nothing in
// them changes: what a judgment changes belongs to an engine and its machines. So both workers of
// an engine run the same programs, and so do engines that judge at the same time. See
// docs/decisions/0103.
type programs struct {
	set     *ruleset.Set
	clauses []*program
	layout  layout

	once  sync.Once
	wrong error // the mistakes in the rules that compile found
}

// A program is a clause of a rule, compiled.
type program struct {
	rule     *ruleset.LoadedRule
	clause   ruleset.RuleClause
	source   string
	plans    []compiledPlan
	why      string // why the reference engine interprets the clause; "" if the plans are its program
	explains []verdict.Plan
}

func newPrograms(set *ruleset.Set) *programs {
	p := &programs{set: set}
	for _, rule := range set.Rules {
		for _, clause := range rule.Clauses {
			p.clauses = append(p.clauses, &program{rule: rule, clause: clause, source: clause.Source})
		}
	}
	return p
}

// compile compiles the clauses, once. The error lists the mistakes in the rules. Several goroutines
// may call it.
func (p *programs) compile() error {
	p.once.Do(func() {
		p.layout.interner = newInterner(p.set.Vocabulary)
		compiler := newCompiler(p.set, &p.layout)
		for _, c := range p.clauses {
			compiler.compile(c)
		}
		p.layout.finish()
		p.wrong = compiler.mistakes.err()
	})
	return p.wrong
}

// judged returns all clauses with the state of a judgment.
func (p *programs) judged() []*compiledClause {
	list := make([]*compiledClause, len(p.clauses))
	for i, c := range p.clauses {
		list[i] = &compiledClause{program: c}
	}
	return list
}

// A layout is what programs need of the machines that run them. The compiler fills it.
type layout struct {
	interner *interner   // with the terms in the rules
	triggers listTable   // of the records of the current batch
	whole    listTable   // of the records of the whole transaction
	indexes  []indexSpec // of the lists of whole
	held     []int       // lists of whole that the state cannot replace: see heldRecords
	counters int         // of count/2 and sum/3
	sums     []sumSpec   // those that are kept
	passes   []sumPass   // add up the kept sums of a stream
}

// A sumSpec describes a sum that is kept by its keys.
type sumSpec struct {
	property uint64 // compiler.property of the sum
	width    int    // number of values in a key
	eager    bool   // keeping it is worthwhile from the first question on
}

// finish makes the terms in the rules survive, after all plans are made.
func (l *layout) finish() {
	l.interner.keep()
	for i := range l.passes {
		p := &l.passes[i]
		p.registers, p.planner = p.planner.registers.count, nil
	}
}

// index declares an index and returns its number. The inodes of all subvolumes have the same
// numbers, so that an index has the tree in its key wherever a goal knows the tree.
func (l *layout) index(list int, key indexKey, inTree bool) int {
	x := indexSpec{list, key, inTree}
	if i := slices.Index(l.indexes, x); i >= 0 {
		return i
	}
	l.indexes = append(l.indexes, x)
	return len(l.indexes) - 1
}

// hold records that goals look into a list of the whole transaction.
func (l *layout) hold(list int) {
	if !slices.Contains(l.held, list) {
		l.held = append(l.held, list)
	}
}

// sum declares a sum and returns its number.
func (l *layout) sum(property uint64, width int) int {
	for i := range l.sums {
		if l.sums[i].property == property {
			return i
		}
	}
	l.sums = append(l.sums, sumSpec{property: property, width: width})
	return len(l.sums) - 1
}

// addPass adds the pass of a sum over a stream, unless the sum has one.
func (l *layout) addPass(k *keptSum, p *planner) {
	for i := range l.passes {
		if l.passes[i].sum.table == k.table {
			return
		}
	}
	l.passes = append(l.passes, sumPass{sum: k, planner: p})
}
