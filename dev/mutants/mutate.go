// Package mutants tests the rules by mutation. It weakens the rules by one small change at a time
// and checks whether a test notices. If no test does, a case is missing. Start reading at Mutants
// and Run.
package mutants

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"fsward/invariants"
)

// A Mutant is a set of rules with one changed clause.
type Mutant struct {
	File   string // of the clause
	Line   int    // of the clause
	Rule   string // number of the clause's rule; "" for a clause that rules share
	Clause string // rule or predicate, and the number of the clause in it
	What   string // the change

	rules []string          // rules that the clause belongs to
	files []invariants.File // changed clauses of these rules, and of the predicates that they use
}

// String returns the place and change of the mutant, which are unique in a set of rules.
func (m *Mutant) String() string { return m.Clause + ": " + m.What }

// Mutants returns every mutant of a set of rules.
func Mutants(files []invariants.File) []*Mutant {
	var out []*Mutant
	p := parse(files)
	count := make(map[string]int)
	for _, c := range p.clauses {
		count[c.id()]++
		name := fmt.Sprintf("%s clause %d", c.id(), count[c.id()])
		rules := p.rulesWith(c.name, c.rule)
		add := func(what string, from, to int, by string) {
			what = strings.Join(strings.Fields(what), " ")
			out = append(out, &Mutant{
				File:   c.file,
				Line:   c.line,
				Rule:   c.rule,
				Clause: name,
				What:   what,
				rules:  rules,
				files:  p.files(rules, c, c.text[:from]+by+c.text[to:]),
			})
		}
		add("removed", 0, len(c.text), "")
		for n, g := range c.goals {
			goal := c.text[g.from:g.to]
			if len(c.goals) > 1 {
				from, to := withComma(c, n)
				add("without "+goal, from, to, "")
			}
			for _, e := range append(comparisonEdits(goal), dropEdits(goal)...) {
				add(goal+" becomes "+goal[:e.from]+e.text+goal[e.to:], g.from+e.from, g.from+e.to, e.text)
			}
		}
	}
	return out
}

// withComma returns the span of goal n and of the comma that separates it from a neighbor.
func withComma(c *clause, n int) (from, to int) {
	if n == 0 {
		return c.goals[0].from, c.goals[1].from
	}
	from = c.goals[n-1].to
	return from + strings.IndexByte(c.text[from:], ','), c.goals[n].to
}

// An edit replaces the range [from, to) of a goal by text.
type edit struct {
	from, to int
	text     string
}

// comparisons maps each comparison to its mutation: its negation, or a comparison that differs only
// for equal operands.
var comparisons = map[string]string{"=:=": `=\=`, `=\=`: "=:=", "=<": "<", "<": "=<", ">=": ">",
	">": ">=", `\==`: "==", "==": `\==`, `\=`: "="}

// comparisonEdits lists the edits of a goal that change a comparison, or increase a number by 1.
func comparisonEdits(goal string) []edit {
	var out []edit
	for i := 0; i < len(goal); {
		n := tokenLen(goal[i:])
		tok := goal[i : i+n]
		if other, ok := comparisons[tok]; ok {
			out = append(out, edit{i, i + n, other})
		} else if v, err := strconv.ParseUint(tok, 0, 64); err == nil && v < math.MaxUint64 {
			out = append(out, edit{i, i + n, strconv.FormatUint(v+1, 10)})
		}
		i += n
	}
	return out
}

// dropEdits lists the edits of a goal that drop one of the goals in its brackets. A goal of a
// conjunction, of a condition or of a consequence becomes true; an alternative becomes fail.
func dropEdits(goal string) []edit {
	var out []edit
	for _, g := range groups(goal) {
		alternatives := split(goal, g, ";")
		for _, a := range alternatives {
			if len(alternatives) > 1 {
				out = append(out, edit{a.from, a.to, "fail"})
			}
			for _, part := range split(goal, a, "->") {
				goals := split(goal, part, ",")
				for _, s := range goals {
					if (part != g || len(goals) > 1) && goal[s.from:s.to] != "true" {
						out = append(out, edit{s.from, s.to, "true"})
					}
				}
			}
		}
	}
	return out
}

// groups returns the contents of the brackets in a goal that hold goals, not arguments: brackets
// without a functor, and those of not. Brackets of arithmetic are among them.
func groups(goal string) []span {
	var out []span
	var open []int // where the contents of each open bracket begin; -1: it holds arguments
	before := ""   // the previous token
	for i := 0; i < len(goal); {
		tok := goal[i : i+tokenLen(goal[i:])]
		i += len(tok)
		switch tok {
		case "(":
			at := i
			if name.MatchString(before) && before != "not" {
				at = -1
			}
			open = append(open, at)
		case ")":
			if at := open[len(open)-1]; at >= 0 {
				out = append(out, trim(goal, span{at, i - 1}))
			}
			open = open[:len(open)-1]
		}
		before = tok
	}
	return out
}

// split splits a span at a token outside of brackets.
func split(text string, s span, at string) []span {
	var out []span
	from, depth := s.from, 0
	for i := s.from; i < s.to; {
		tok := text[i : i+tokenLen(text[i:])]
		switch tok {
		case "(", "[", "{":
			depth++
		case ")", "]", "}":
			depth--
		case at:
			if depth == 0 {
				out = append(out, trim(text, span{from, i}))
				from = i + len(tok)
			}
		}
		i += len(tok)
	}
	return append(out, trim(text, span{from, s.to}))
}

// trim removes white space at both ends of a span.
func trim(text string, s span) span {
	inside := text[s.from:s.to]
	s.from += len(inside) - len(strings.TrimLeft(inside, " \n\t"))
	s.to -= len(inside) - len(strings.TrimRight(inside, " \n\t"))
	return s
}

// without returns the mutant from which all clauses of a rule are removed.
func without(files []invariants.File, rule string) *Mutant {
	p := parse(files)
	p.clauses = slices.DeleteFunc(p.clauses, func(c *clause) bool { return c.rule == rule })
	return &Mutant{Rule: rule, rules: []string{rule}, files: p.files([]string{rule}, nil, "")}
}
