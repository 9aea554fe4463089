package ruleset

import (
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/ichiban/prolog/engine"

	"fsward/invariants/syntax"
)

// hashRules gives each rule the hash of its clauses, its comment block, and the helpers that it
// calls, directly or not.
func (l *Set) hashRules(clauses []ParsedClause) {
	byHead := map[syntax.Indicator][]ParsedClause{}
	byRule := map[engine.Term][]ParsedClause{}
	for _, c := range clauses {
		p, ok := syntax.IndicatorOf(c.Head)
		if h, isCompound := c.Head.(engine.Compound); isCompound && p.Name == syntax.AtomViolation {
			byRule[h.Arg(0)] = append(byRule[h.Arg(0)], c)
		} else if ok {
			byHead[p] = append(byHead[p], c)
		}
	}
	helpers := make(map[syntax.Indicator][]byte, len(byHead)) // many rules call the same
	for p, list := range byHead {
		helpers[p] = tokensOf(list)
	}
	for _, r := range l.Rules {
		h := sha256.New()
		fmt.Fprintf(h, "%q %q %q %q %q\n", r.Name, r.Doc, r.Origin, r.User, r.Severity)
		var called []syntax.Indicator
		h.Write(tokensOf(byRule[r.Number]))
		for _, c := range byRule[r.Number] {
			called = callsOf(c.Body, byHead, called)
		}
		for i := 0; i < len(called); i++ { // called grows
			h.Write(helpers[called[i]])
			for _, c := range byHead[called[i]] {
				called = callsOf(c.Body, byHead, called)
			}
		}
		h.Sum(r.Hash[:0])
	}
}

// PreludeHash identifies the predicates of the prelude, as text.
func PreludeHash() string {
	return fmt.Sprintf("%x", sha256.Sum256(slices.Concat(prelude, added, addedBtrfs)))
}

// tokensOf returns the tokens of clauses.
func tokensOf(clauses []ParsedClause) (b []byte) {
	for _, c := range clauses {
		b = c.Text.AppendTokens(b)
	}
	return b
}

// callsOf adds to called the defined predicates whose name and arity occur in a term.
func callsOf(t engine.Term, defined map[syntax.Indicator][]ParsedClause,
	called []syntax.Indicator) []syntax.Indicator {
	if p, ok := syntax.IndicatorOf(t); ok && defined[p] != nil && !slices.Contains(called, p) {
		called = append(called, p)
	}
	if c, ok := t.(engine.Compound); ok {
		for i := range c.Arity() {
			called = callsOf(c.Arg(i), defined, called)
		}
	}
	return called
}
