package invariants

import (
	"context"
	"slices"
	"sync"

	"fsward/change"
)

// A dealer says which rules each half judges of a transaction. What a rule costs for a change that starts it is seen as it is
// judged. Rules that have proofs, sums or reverse look-ups in common stay together, so that what a rule spends of its budget depends
// on the transaction alone, and not on how rules were dealt.
type dealer struct {
	groups [][]int32 // of rules, by their order
	starts [][]int   // by rule: the lists of the changes that start it
	paid   []paid    // by rule
	seen   float64   // changes that started rules
}

// paid is what a rule has cost of late.
type paid struct{ starts, ns float64 }

const (
	unknownCost = 500 // nanoseconds of a rule for a change, before it is seen; it counts as if seen for so many changes:
	unknownSeen = 8
	// After so many changes of a rule, what it has cost before counts half.
	maxSeen = 1 << 20
)

// newDealer makes the dealer of rules. users has, for each of what rules can have in common, the rules that do.
func newDealer(rules int, clauses []*compiledClause, users [][]int32) *dealer {
	d := &dealer{starts: make([][]int, rules), paid: make([]paid, rules)}
	for _, c := range clauses {
		if len(c.programs) > 0 {
			for _, plan := range c.programs[0].plans {
				d.starts[c.rule.order] = append(d.starts[c.rule.order], plan.starts...)
			}
		}
	}
	group := make([]int32, rules) // by rule, the least of its group
	for i := range group {
		group[i] = int32(i)
	}
	for _, together := range users {
		for _, rule := range together {
			from, to := max(group[rule], group[together[0]]), min(group[rule], group[together[0]])
			for i := range group {
				if group[i] == from {
					group[i] = to
				}
			}
		}
	}
	of := make([][]int32, rules)
	for i, g := range group {
		of[g] = append(of[g], int32(i))
	}
	d.groups = slices.DeleteFunc(of, func(g []int32) bool { return len(g) == 0 })
	return d
}

// maxCounted is how many records of a transaction are looked at to see what changed.
const maxCounted = 1 << 12

// count returns for each rule about how many of some records start it.
func (d *dealer) count(s *sorter, records []change.Record) []float64 {
	lists := make([]float64, len(s.lists))
	stride := max(len(records)/maxCounted, 1)
	for i := 0; i < len(records) && s.groups != nil; i += stride {
		r := &records[i]
		for _, list := range s.of[s.groups[recordClass(r.Object.Kind, r.Field, r.Old.IsNull(), r.New.IsNull())]] {
			lists[list] += float64(stride)
		}
	}
	counts := make([]float64, len(d.starts))
	for rule, starts := range d.starts {
		for _, list := range starts {
			counts[rule] += lists[list]
		}
	}
	return counts
}

// deal returns the half of each rule, so that both cost about the same: the group that costs most first, each to the half that has
// less to do so far.
func (d *dealer) deal(counts []float64) (of []int) {
	type costly struct {
		group int
		cost  float64
	}
	order := make([]costly, len(d.groups))
	for i, g := range d.groups {
		order[i].group = i
		for _, rule := range g {
			p := d.paid[rule]
			order[i].cost += counts[rule] * (unknownCost*unknownSeen + p.ns) / (unknownSeen + p.starts)
		}
	}
	slices.SortStableFunc(order, func(a, b costly) int {
		switch {
		case a.cost > b.cost:
			return -1
		case a.cost < b.cost:
			return 1
		}
		return 0
	})
	of = make([]int, len(d.paid))
	var load [2]float64
	for _, o := range order {
		half := 0
		if load[1] < load[0] {
			half = 1
		}
		load[half] += o.cost
		for _, rule := range d.groups[o.group] {
			of[rule] = half
		}
	}
	return of
}

// learn takes what changes that started rules have cost.
func (d *dealer) learn(counts []float64, timing []Timing) {
	for i := range d.paid {
		p := &d.paid[i]
		p.starts, p.ns = p.starts+counts[i], p.ns+float64(timing[i].Last)
		if d.seen += counts[i]; p.starts > maxSeen {
			p.starts, p.ns = p.starts/2, p.ns/2
		}
	}
}

// A large transaction that comes before much was seen is tasted: pieces of it are judged to see what rules cost, and what is found is
// forgotten.
const (
	tasteFrom  = 1 << 15 // records of such a transaction
	tasteUntil = 1 << 14 // changes that have started rules
	pieceSize  = 64      // records of a piece
	tastePart  = 256     // one record of so many is tasted
)

// taste judges pieces of a transaction. The first time indexes are made, which rules share; the second time tells.
func (e *Compiled) taste(ctx context.Context, t *change.Txn, v change.Forker) {
	d := e.dealer
	if len(t.Records) < tasteFrom || d.seen >= tasteUntil {
		return
	}
	turn := &e.halves[0].machine.turn
	of := d.deal(d.count(turn, t.Records))
	timing := make([]Timing, len(e.timing))
	for second := range 2 {
		clear(timing)
		var pieces [][2]int
		const stride = pieceSize * tastePart
		for at := second * stride / 2; at+pieceSize <= len(t.Records); at += stride {
			pieces = append(pieces, [2]int{at, at + pieceSize})
		}
		e.both(of, t, v, func(h *half, t *change.Txn, v change.View) {
			h.machine.begin(ctx, t, v, h.report)
			h.machine.tasting = true
			h.timing = timing
			h.judge(h.clauses, slices.Values(pieces))
			h.machine.tasting = false
			h.machine.end()
		})
		if second == 1 {
			counts := make([]float64, len(d.paid))
			for _, p := range pieces {
				for rule, n := range d.count(turn, t.Records[p[0]:p[1]]) {
					counts[rule] += n
				}
			}
			d.learn(counts, timing)
		}
	}
	e.resetReports()
}

// both judges by both halves at once, as rules were dealt.
func (e *Compiled) both(of []int, t *change.Txn, v change.Forker, judge func(*half, *change.Txn, change.View)) {
	var wg sync.WaitGroup
	for i, h := range e.halves {
		fork := *t
		fork.Names = t.Names.Fork()
		view := v.Fork(fork.Names)
		others := func(c *compiledClause) bool { return of[c.rule.order] != i }
		h.take(slices.DeleteFunc(slices.Clone(e.clauses), others), (*compiledPlan).startLists)
		wg.Go(func() { judge(h, &fork, view) })
	}
	wg.Wait()
}
