package invariants

import (
	"context"

	"fsward/change"
	"fsward/invariants/bundle"
)

// Layers judges by one set of rules after the other: the built-in rules first, then a site's. A set
// sees no helper of another, and what it costs leaves the verdicts of the sets before it as they
// are.
type Layers struct {
	engines []Engine
	exempt  []bundle.Setting // those with exempt objects
}

// NewLayers returns an engine of several, in their order, with the exemptions of bundles.
func NewLayers(bundles bundle.Bundles, engines ...Engine) *Layers {
	l := &Layers{engines: engines}
	for _, s := range bundles.Settings() {
		if len(s.Exempt) > 0 {
			l.exempt = append(l.exempt, s)
		}
	}
	return l
}

// Check judges a transaction by every rule of every layer. Violations have witnesses.
func (l *Layers) Check(ctx context.Context, t *change.Txn, v change.View) Verdict {
	return l.judge(func(e Engine) Verdict {
		verdict := e.Check(ctx, t, v)
		verdict.AddWitnesses(t)
		return verdict
	})
}

// CheckStream is Check for a stream. The rules of an engine that holds a transaction in memory are
// undecided.
func (l *Layers) CheckStream(ctx context.Context, s change.Stream, v change.View,
	memory uint64) Verdict {
	return l.judge(func(e Engine) Verdict {
		if streams, ok := e.(StreamEngine); ok {
			return streams.CheckStream(ctx, s, v, memory)
		}
		return Verdict{Open: true, Undecided: []string{
			"the engine reference holds a file system in memory, and this one is too large"}}
	})
}

func (l *Layers) judge(by func(Engine) Verdict) Verdict {
	var out Verdict
	for i, e := range l.engines {
		if verdict := by(e); i == 0 {
			out = verdict
		} else {
			out.Add(verdict)
		}
	}
	for i := range out.Violations {
		out.Violations[i].Exempt = l.exemption(&out.Violations[i])
	}
	out.Conclude()
	return out
}

// exemption returns the reason for which the object of a violation is exempt; "" if it is not.
func (l *Layers) exemption(v *change.Violation) string {
	for _, s := range l.exempt {
		if s.Rule != v.Rule {
			continue
		}
		for _, o := range s.Exempt {
			if (o.Tree == "*" || o.Tree == v.Tree) && (o.ID == "*" || o.ID == v.ID) {
				return s.Reason
			}
		}
	}
	return ""
}

// Prepare compiles the rules that Options.Late put off.
func (l *Layers) Prepare() {
	for _, e := range l.engines {
		if c, ok := e.(*Compiled); ok {
			c.Prepare()
		}
	}
}

// Rules describes the rules, in the order in which they run.
func (l *Layers) Rules() (rules []Rule) {
	for _, e := range l.engines {
		rules = append(rules, e.Rules()...)
	}
	return rules
}

// Timing returns the cost of each rule of the engines that measure it.
func (l *Layers) Timing() (list []Timing) {
	for _, e := range l.engines {
		if c, ok := e.(*Compiled); ok {
			list = append(list, c.Timing()...)
		}
	}
	return list
}

var _ StreamEngine = (*Layers)(nil)
