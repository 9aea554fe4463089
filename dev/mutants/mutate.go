// Package mutants weakens the rules, one small change at a time, and checks whether a test notices.
// A rule that can be weakened unnoticed is not tested. Start reading at Mutants and Run.
package mutants

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"fsward/invariants"
)

// A Mutant is a set of rules with one change.
type Mutant struct {
	File   string
	Line   int    // of the clause
	Rule   string // its number; "" for a clause that several rules share
	Clause string // its rule or predicate, and the number of the clause in it
	What   string

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
			out = append(out, &Mutant{File: c.file, Line: c.line, Rule: c.rule, Clause: name, What: what,
				rules: rules,
				files: p.files(rules, c, c.text[:from]+by+c.text[to:])})
		}
		add("removed", 0, len(c.text), "")
		for n, g := range c.goals {
			goal := c.text[g.from:g.to]
			if len(c.goals) > 1 {
				from, to := withComma(c, n)
				add("without "+goal, from, to, "")
			}
			for _, t := range append(turned(goal), dropped(goal)...) {
				add(goal+" becomes "+goal[:t.from]+t.now+goal[t.to:], g.from+t.from, g.from+t.to, t.now)
			}
		}
	}
	return out
}

// withComma returns a goal with the comma that goes when the goal is dropped.
func withComma(c *clause, n int) (from, to int) {
	if n == 0 {
		return c.goals[0].from, c.goals[1].from
	}
	from = c.goals[n-1].to
	return from + strings.IndexByte(c.text[from:], ','), c.goals[n].to
}

// A turn is a replacement inside a goal.
type turn struct {
	from, to int
	now      string
}

// comparisons maps a comparison to others, which differ from it at one point or everywhere.
var comparisons = map[string]string{"=:=": `=\=`, `=\=`: "=:=", "=<": "<", "<": "=<", ">=": ">",
	">": ">=", `\==`: "==", "==": `\==`, `\=`: "="}

// turned lists the changes of comparisons and numbers in a goal.
func turned(goal string) []turn {
	var out []turn
	for i := 0; i < len(goal); {
		n := tokenLen(goal[i:])
		tok := goal[i : i+n]
		if now, ok := comparisons[tok]; ok {
			out = append(out, turn{i, i + n, now})
		} else if v, err := strconv.ParseUint(tok, 0, 64); err == nil && v < math.MaxUint64 {
			out = append(out, turn{i, i + n, strconv.FormatUint(v+1, 10)})
		}
		i += n
	}
	return out
}

// dropped lists what a goal with others in brackets becomes when one of them is dropped: a part of
// a conjunction, of a condition or of its consequence becomes true, and an alternative fails.
func dropped(goal string) []turn {
	var out []turn
	for _, g := range groups(goal) {
		alternatives := split(goal, g, ";")
		for _, a := range alternatives {
			if len(alternatives) > 1 {
				out = append(out, turn{a.from, a.to, "fail"})
			}
			for _, part := range split(goal, a, "->") {
				goals := split(goal, part, ",")
				for _, s := range goals {
					if (part != g || len(goals) > 1) && goal[s.from:s.to] != "true" {
						out = append(out, turn{s.from, s.to, "true"})
					}
				}
			}
		}
	}
	return out
}

// groups returns the insides of the brackets in a goal that hold goals or a sum: brackets without a
// functor, and those of a negation.
func groups(goal string) []span {
	var out []span
	var open []int // where a bracket's inside begins; -1: its brackets hold arguments
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

// trim removes blanks at both ends.
func trim(text string, s span) span {
	inside := text[s.from:s.to]
	s.from += len(inside) - len(strings.TrimLeft(inside, " \n\t"))
	s.to -= len(inside) - len(strings.TrimRight(inside, " \n\t"))
	return s
}

// without returns rules without the clauses of one of them.
func without(files []invariants.File, rule string) *Mutant {
	p := parse(files)
	p.clauses = slices.DeleteFunc(p.clauses, func(c *clause) bool { return c.rule == rule })
	return &Mutant{Rule: rule, rules: []string{rule}, files: p.files([]string{rule}, nil, "")}
}
